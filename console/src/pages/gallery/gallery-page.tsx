import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo } from 'react';

import { useIsSignedIn } from '../../api/credential.ts';
import type { MediaFilter, MediaKind } from '../../api/operations.ts';
import { usePieces } from '../../library/use-pieces.ts';
import { SearchField } from '../../parts/controls/search-field.tsx';
import { Empty, Problem } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';
import { Drawer } from './drawer.tsx';
import type { FileKind } from './gallery-item.tsx';
import { Grid } from './grid.tsx';
import { SelectionBar } from './selection-bar.tsx';
import { useGalleryKeys } from './use-gallery-keys.ts';
import { useSelection } from './use-selection.ts';

const KINDS = ['image', 'video', 'audio'] as const;

/** Everything that was made or uploaded, newest first, in rows of one height; one opens beside it. */
export function GalleryPage() {
  const { open, kind, find } = useSearch({ from: '/gallery' });
  const navigate = useNavigate({ from: '/gallery' });
  const isSignedIn = useIsSignedIn();
  const filter = useMemo(() => filterOf(kind, find), [kind, find]);
  const { pieces, total, error, isLoading, loadMore, drop } = usePieces(isSignedIn, filter);
  const current = useMemo(() => pieces.findIndex(({ media }) => media.id === open), [pieces, open]);
  const selection = useSelection(pieces);
  const show = (index: number) => {
    const piece = pieces[index];
    if (piece === undefined) return;
    void navigate({
      search: (before) => ({ ...before, open: piece.media.id }),
      replace: true,
      resetScroll: false,
    });
  };
  const close = () => void navigate({ search: addressOf({ kind, find }), replace: true, resetScroll: false });
  const gone = (ids: ReadonlySet<string>) => {
    drop(ids);
    selection.clear();
    if (open !== undefined && ids.has(open)) close();
  };
  useGalleryKeys({ current, show, close });
  const piece = pieces[current];
  return (
    <>
      <header className="top">
        <h1>{t('page.gallery')}</h1>
        <span className="mute num c12">{total === null ? '' : total.toLocaleString()}</span>
        {isSignedIn && (
          <SearchField
            label={t('gallery.search')}
            find={find}
            onSearch={(next) => void navigate({ search: addressOf({ kind, find: next }) })}
          />
        )}
        <Kinds kind={kind} />
      </header>
      <div className={piece === undefined ? 'gal' : 'gal open'}>
        <div className="gbody">
          {error !== undefined && <Problem error={error} />}
          {!isLoading && error === undefined && pieces.length === 0 && (
            <Nothing isFiltered={kind !== undefined || find !== undefined} />
          )}
          <Grid
            pieces={pieces}
            current={current}
            selected={selection.ids}
            onSelect={selection.toggle}
            onEnd={loadMore}
          />
        </div>
        {piece !== undefined && (
          <Drawer key={piece.media.id} piece={piece} onClose={close} onDeleted={gone} />
        )}
      </div>
      {selection.pieces.length > 0 && (
        <SelectionBar pieces={selection.pieces} onClear={selection.clear} onDeleted={gone} />
      )}
    </>
  );
}

function filterOf(kind: FileKind | undefined, find: string | undefined): MediaFilter {
  return {
    ...(kind === undefined ? {} : { kinds: [kind.toUpperCase() as MediaKind] }),
    ...(find === undefined ? {} : { text: find }),
  };
}

/** The part of the address that filters. */
function addressOf({ kind, find }: { kind: FileKind | undefined; find: string | undefined }) {
  return { ...(kind === undefined ? {} : { kind }), ...(find === undefined ? {} : { find }) };
}

function Kinds({ kind }: { readonly kind: FileKind | undefined }) {
  const navigate = useNavigate({ from: '/gallery' });
  return (
    <div className="bars push" role="group" aria-label={t('gallery.filter')}>
      {[undefined, ...KINDS].map((one) => (
        <button
          key={one ?? 'all'}
          type="button"
          className="chip"
          aria-pressed={one === kind}
          onClick={() =>
            void navigate({
              search: ({ find }) => addressOf({ kind: one, find }),
            })
          }
        >
          {t(one === undefined ? 'tasks.all' : `gallery.${one}`)}
        </button>
      ))}
    </div>
  );
}

function Nothing({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) return <Empty title={t('gallery.noMatch')} text={t('gallery.noMatchText')} />;
  return (
    <Empty title={t('gallery.none')} text={t('tasks.noneText')}>
      <Link className="btn pri" to="/">
        {t('page.studio')}
      </Link>
    </Empty>
  );
}
