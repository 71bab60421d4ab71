import { useNavigate, useSearch } from '@tanstack/react-router';

import { useIsSignedIn, useSeesAll } from '../../api/caller.ts';
import { Narrow, NarrowChips } from '../../library/narrow.tsx';
import { type Narrowing, readNarrowing } from '../../library/narrowing.ts';
import { SearchField } from '../../parts/controls/fields.tsx';
import { Chip, Chips } from '../../parts/looks/inputs.tsx';
import { t } from '../../text/text.ts';
import type { FileKind } from './gallery-item.tsx';

const KINDS = ['image', 'video', 'audio'] as const;

/** What the gallery is narrowed by; all of it is in the address. What is open is closed by a change. */
export function Filters() {
  const { open: _, ...search } = useSearch({ from: '/gallery' });
  const navigate = useNavigate({ from: '/gallery' });
  const isSignedIn = useIsSignedIn();
  const seesAll = useSeesAll();
  const { kind, find, board, starred } = search;
  const narrowing = readNarrowing({ ...search });
  const go = (words: { kind?: FileKind | undefined; find?: string | undefined }, narrowed: Narrowing) =>
    void navigate({
      search: {
        ...(board === undefined ? {} : { board }),
        ...(starred === undefined ? {} : { starred }),
        ...(words.kind === undefined ? {} : { kind: words.kind }),
        ...(words.find === undefined ? {} : { find: words.find }),
        ...narrowed,
      },
    });
  const narrow = (next: Narrowing) => go({ kind, find }, next);
  return (
    <>
      {isSignedIn && (
        <SearchField
          label={t('gallery.search')}
          find={find}
          onSearch={(next) => go({ kind, find: next }, narrowing)}
        />
      )}
      {/* A visitor's gallery is what this browser keeps, which tells kinds apart alone. */}
      {isSignedIn && <Narrow value={narrowing} onChange={narrow} seesAll={seesAll} />}
      <NarrowChips value={narrowing} onChange={narrow} />
      <Chips className="ml-auto max-sm:ml-auto" aria-label={t('gallery.filter')}>
        {[undefined, ...KINDS].map((one) => (
          <Chip
            key={one ?? 'all'}
            aria-pressed={one === kind}
            onClick={() => go({ kind: one, find }, narrowing)}
          >
            {t(one === undefined ? 'tasks.all' : `gallery.${one}`)}
          </Chip>
        ))}
      </Chips>
    </>
  );
}
