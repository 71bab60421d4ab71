import { useNavigate, useSearch } from '@tanstack/react-router';

import { useIsSignedIn, useSeesAll } from '../../api/caller.ts';
import { Narrow, NarrowChips } from '../../library/narrow.tsx';
import { type Narrowing, narrowedBy, readNarrowing } from '../../library/narrowing.ts';
import { SearchField } from '../../parts/controls/fields.tsx';
import { Chip, Chips } from '../../parts/looks/inputs.tsx';
import { t } from '../../text/text.ts';
import type { FileKind } from './gallery-item.tsx';

const KINDS = ['image', 'video', 'audio'] as const;
const CLOSED: object = { open: undefined };

/** What the gallery is narrowed by; all of it is in the address. What is open is closed by a change. */
export function Filters() {
  const search = useSearch({ from: '/gallery' });
  const navigate = useNavigate({ from: '/gallery' });
  const isSignedIn = useIsSignedIn();
  const seesAll = useSeesAll();
  const { kind, find } = search;
  const narrowing = readNarrowing({ ...search });
  // What the address has by then, not what is drawn: a filter may have been changed just before.
  const set = (change: { kind?: FileKind | undefined; find?: string | undefined }) =>
    void navigate({ search: (before) => ({ ...before, ...change, ...CLOSED }) as typeof search });
  const narrow = (next: Narrowing) =>
    void navigate({ search: (before) => narrowedBy({ ...before, ...CLOSED }, next) });
  return (
    <>
      {isSignedIn && (
        <SearchField label={t('gallery.search')} find={find} onSearch={(next) => set({ find: next })} />
      )}
      {/* A visitor's gallery is what this browser keeps, which tells kinds apart alone. */}
      {isSignedIn && <Narrow value={narrowing} onChange={narrow} seesAll={seesAll} />}
      <NarrowChips value={narrowing} onChange={narrow} />
      <Chips className="ml-auto max-sm:ml-auto" aria-label={t('gallery.filter')}>
        {[undefined, ...KINDS].map((one) => (
          <Chip key={one ?? 'all'} aria-pressed={one === kind} onClick={() => set({ kind: one })}>
            {t(one === undefined ? 'tasks.all' : `gallery.${one}`)}
          </Chip>
        ))}
      </Chips>
    </>
  );
}
