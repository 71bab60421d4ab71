import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useMemo, useState } from 'react';

import { useIsSignedIn } from '../../api/credential.ts';
import type { MediaFilter, MediaKind } from '../../api/operations.ts';
import { filterOfNarrowing } from '../../library/narrowing.ts';
import { nameOfPiece } from '../../library/piece.tsx';
import { usePieces } from '../../library/use-pieces.ts';
import { Empty, Problem } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';
import { Filters } from './filters.tsx';
import { Grid } from './grid.tsx';
import { Drawer } from './open/drawer.tsx';
import { useOpenPiece } from './open/use-open-piece.ts';
import { Viewer } from './open/viewer.tsx';
import { SelectionBar } from './selection-bar.tsx';
import { SizeChoice, SIZES, useSize } from './size.tsx';
import { useSelection } from './use-selection.ts';

/** Everything that was made or uploaded, newest first, in rows of one height; one opens beside it. */
export function GalleryPage() {
  const search = useSearch({ from: '/gallery' });
  const { open, ...filtered } = search;
  const key = JSON.stringify(filtered);
  const navigate = useNavigate({ from: '/gallery' });
  const isSignedIn = useIsSignedIn();
  const filter = useMemo(() => filterOf(JSON.parse(key) as typeof filtered), [key]);
  const { pieces, total, error, isLoading, loadMore, drop } = usePieces(isSignedIn, filter);
  const { current, piece } = useOpenPiece(open, pieces);
  const [isLarge, setIsLarge] = useState(false);
  const [size, setSize] = useSize();
  const selection = useSelection(pieces);
  const show = (index: number) => {
    const next = pieces[index];
    if (next === undefined) return;
    void navigate({
      search: (before) => ({ ...before, open: next.media.id }),
      replace: true,
      resetScroll: false,
    });
  };
  const close = () => void navigate({ search: filtered, replace: true, resetScroll: false });
  const gone = (ids: ReadonlySet<string>) => {
    drop(ids);
    selection.clear();
    if (open !== undefined && ids.has(open)) close();
  };
  return (
    <>
      <header className="top">
        <h1>{t('page.gallery')}</h1>
        <span className="mute num c12">{total === null ? '' : total.toLocaleString()}</span>
        <Filters />
        <SizeChoice size={size} onChoose={setSize} />
      </header>
      <div className={piece === undefined ? 'gal' : 'gal open'}>
        <div className="gbody">
          {error !== undefined && <Problem error={error} />}
          {isLoading && <div className="sk sk-grid" aria-busy="true" />}
          {!isLoading && error === undefined && pieces.length === 0 && <Nothing isFiltered={key !== '{}'} />}
          <Grid
            pieces={pieces}
            share={SIZES[size]}
            current={current}
            selected={selection.ids}
            onSelect={selection.toggle}
            onEnd={loadMore}
            onShow={show}
            onClose={close}
            onEnlarge={() => setIsLarge(true)}
          />
        </div>
        {piece !== undefined && (
          <Drawer
            key={piece.media.id}
            piece={piece}
            onClose={close}
            onDeleted={gone}
            onEnlarge={() => setIsLarge(true)}
          />
        )}
      </div>
      {isLarge && piece !== undefined && (
        <Viewer
          media={piece.media}
          name={nameOfPiece(piece)}
          onClose={() => setIsLarge(false)}
          onMove={(step) => show(current + step)}
        />
      )}
      {selection.pieces.length > 0 && (
        <SelectionBar pieces={selection.pieces} onClear={selection.clear} onDeleted={gone} />
      )}
    </>
  );
}

function filterOf({
  kind,
  find,
  ...narrowing
}: Parameters<typeof filterOfNarrowing>[0] & {
  readonly kind?: string;
  readonly find?: string;
}): MediaFilter {
  return {
    ...(kind === undefined ? {} : { kinds: [kind.toUpperCase() as MediaKind] }),
    ...(find === undefined ? {} : { text: find }),
    ...filterOfNarrowing(narrowing),
  };
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
