import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo, useRef, useState } from 'react';

import { useIsSignedIn } from '../../api/caller.ts';
import type { MediaFilter, MediaKind } from '../../api/documents/operations.ts';
import { formatTotal } from '../../api/use-pages.ts';
import { toFilter } from '../../library/narrowing.ts';
import { namePiece, type Piece, type Pieces } from '../../library/piece.tsx';
import { usePieces, useOpenPiece } from '../../library/use-pieces.ts';
import { Button, buttonLook } from '../../parts/looks/button.tsx';
import { Segments } from '../../parts/looks/choices.tsx';
import { Figures } from '../../parts/looks/lines.tsx';
import { PageTop, Skeleton } from '../../parts/looks/panels.tsx';
import { later, useIncrementalCount } from '../../parts/page/later.tsx';
import { PageHeading } from '../../parts/page/page-heading.tsx';
import { Empty, Problem } from '../../parts/problem.tsx';
import { t } from '../../text/text.ts';
import { BoardBar, BoardHead } from './boards/boards.tsx';
import { type Boards, useBoards } from './boards/use-boards.ts';
import { Filters } from './filters.tsx';
import { Grid } from './grid.tsx';
import { Drawer } from './open/drawer.tsx';
import { SelectionBar } from './selection-bar.tsx';

const Viewer = later(async () => (await import('../../library/viewer.tsx')).Viewer);

/** The address says what is open; it is no step to go back to. */
const IN_PLACE = { replace: true, resetScroll: false };

/** The columns while a file is open beside them. */
const BESIDE_DRAWER =
  'grid-cols-[minmax(0,1fr)] sm:grid-cols-[minmax(0,1fr)_340px] md:grid-cols-[minmax(0,1fr)_var(--drawer-w)]';

/** Everything that was made or uploaded, newest first, in rows of one height; one opens beside it. */
export function GalleryPage() {
  const search = useSearch({ from: '/gallery' });
  const { open, ...filtered } = search;
  const key = JSON.stringify(filtered);
  const navigate = useNavigate({ from: '/gallery' });
  const isSignedIn = useIsSignedIn();
  const filter = useMemo(() => toMediaFilter(JSON.parse(key) as typeof filtered), [key]);
  const { pieces, total, error, isLoading, again, loadMore, drop } = usePieces(isSignedIn, filter);
  const { current, piece } = useOpenPiece(open, pieces);
  const [isLarge, setIsLarge] = useState(false);
  const [size, setSize] = useSize();
  const selection = useSelection(pieces);
  const boards = useBoards();
  const board = boards.boards.find(({ id }) => id === search.board);
  const show = (index: number) => {
    const next = pieces[index];
    if (next === undefined) return;
    void navigate({ search: (before) => ({ ...before, open: next.media.id }), ...IN_PLACE });
  };
  const close = () => void navigate({ search: filtered, ...IN_PLACE });
  const gone = (ids: ReadonlySet<string>) => {
    drop(ids);
    selection.drop(ids);
    if (open !== undefined && ids.has(open)) close();
  };
  const put = async (to: string, ids: readonly string[]) => {
    if (!(await boards.put(to, ids, board?.id))) return;
    // From one board to another they are moved.
    if (board !== undefined && board.id !== to) gone(new Set(ids));
    else selection.clear();
  };
  const dropped = (to: string | null, ids: readonly string[]) =>
    void (to === null ? boards.star(ids, true) : put(to, ids));
  // From above, each in a turn of the event loop of its own: the grid asks where it begins.
  const turns = useIncrementalCount(3, 1);
  const { starOne, dragWith } = useHandles(boards, selection.ids);
  return (
    <>
      <Head total={total} size={size} onSize={setSize} />
      <div className={`grid flex-1 ${piece === undefined ? 'grid-cols-[minmax(0,1fr)]' : BESIDE_DRAWER}`}>
        <div className="pt-4 pr-6 pb-16 pl-6 max-sm:p-4">
          {turns > 1 && isSignedIn && <BoardBar boards={boards} shown={search} onDropped={dropped} />}
          {turns > 1 && board !== undefined && (
            <BoardHead board={board} boards={boards} onGone={() => void navigate({ search: {} })} />
          )}
          {error !== undefined && <NotRead error={error} again={again} />}
          {turns > 1 && isLoading && <Skeleton className="h-[60vh]" aria-busy="true" />}
          {!isLoading && error === undefined && pieces.length === 0 && <Nothing isFiltered={key !== '{}'} />}
          {turns > 2 && (
            <Grid
              pieces={pieces}
              share={SIZES[size]}
              current={current}
              selected={selection.ids}
              onSelect={selection.toggle}
              starred={boards.starred}
              onStar={isSignedIn ? starOne : undefined}
              dragWith={dragWith}
              onEnd={loadMore}
              onShow={show}
              onClose={close}
              onEnlarge={() => setIsLarge(true)}
            />
          )}
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
        <Large piece={piece} onClose={() => setIsLarge(false)} onMove={(step) => show(current + step)} />
      )}
      {selection.pieces.length > 0 && (
        <SelectionBar
          pieces={selection.pieces}
          boards={boards}
          board={board}
          onPut={put}
          onLeft={gone}
          onClear={selection.clear}
          onDeleted={gone}
        />
      )}
    </>
  );
}

interface HeadProps {
  readonly total: number | null;
  readonly size: Size;
  readonly onSize: (size: Size) => void;
}

function Head({ total, size, onSize }: HeadProps) {
  return (
    <PageTop>
      <PageHeading>{t('page.gallery')}</PageHeading>
      <Figures tone="muted" small>
        {total === null ? '' : formatTotal(total)}
      </Figures>
      <Filters />
      <SizeChoice size={size} onChoose={onSize} />
    </PageTop>
  );
}

/** Why the files, or more of them, are not there. */
function NotRead({ error, again }: Pick<Pieces, 'error' | 'again'>) {
  return (
    <Problem error={error}>
      {again !== null && (
        <Button size="small" className="self-start" onClick={again}>
          {t('page.tryAgain')}
        </Button>
      )}
    </Problem>
  );
}

interface LargeProps {
  readonly piece: Piece;
  readonly onClose: () => void;
  readonly onMove: (step: -1 | 1) => void;
}

function Large({ piece, ...props }: LargeProps) {
  return <Viewer media={piece.media} name={namePiece(piece)} {...props} />;
}

/** What every image of the grid is given: the same functions each time, so that none is drawn again for them. */
function useHandles({ star }: Boards, ids: ReadonlySet<string>) {
  const now = useRef({ star, ids });
  now.current = { star, ids };
  const starOne = useCallback((id: string, starred: boolean) => void now.current.star([id], starred), []);
  const dragWith = useCallback((id: string) => (now.current.ids.has(id) ? [...now.current.ids] : [id]), []);
  return { starOne, dragWith };
}

function toMediaFilter({
  kind,
  find,
  board,
  starred,
  ...narrowing
}: Parameters<typeof toFilter>[0] & {
  readonly kind?: string;
  readonly find?: string;
  readonly board?: string;
  readonly starred?: true;
}): MediaFilter {
  return {
    ...(kind === undefined ? {} : { kinds: [kind.toUpperCase() as MediaKind] }),
    ...(find === undefined ? {} : { text: find }),
    ...(board === undefined ? {} : { board }),
    ...(starred === undefined ? {} : { starred }),
    ...toFilter(narrowing),
  };
}

function Nothing({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) return <Empty title={t('gallery.noMatch')} text={t('gallery.noMatchText')} />;
  return (
    <Empty title={t('gallery.none')} text={t('tasks.noneText')}>
      <Link className={buttonLook({ kind: 'primary' })} to="/">
        {t('page.studio')}
      </Link>
    </Empty>
  );
}

/** Which pieces are ticked; with a range from the last one that was. */
function useSelection(pieces: readonly Piece[]) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const last = useRef<string | null>(null);
  const toggle = useCallback(
    (id: string, isRange: boolean) => {
      const anchor = last.current;
      last.current = id;
      setIds((before) => {
        if (isRange && anchor !== null) return new Set([...before, ...between(pieces, anchor, id)]);
        const next = new Set(before);
        if (!next.delete(id)) next.add(id);
        return next;
      });
    },
    [pieces],
  );
  const selected = useMemo(() => pieces.filter(({ media }) => ids.has(media.id)), [pieces, ids]);
  return {
    ids,
    pieces: selected,
    toggle,
    clear: () => setIds(new Set()),
    drop: (gone: ReadonlySet<string>) =>
      setIds((before) => new Set([...before].filter((id) => !gone.has(id)))),
  };
}

function between(pieces: readonly Piece[], one: string, other: string): readonly string[] {
  const all = pieces.map(({ media }) => media.id);
  const [from = 0, to = 0] = [all.indexOf(one), all.indexOf(other)].toSorted((a, b) => a - b);
  return all.slice(Math.max(0, from), to + 1);
}

/** How high rows are, as a share of what fits the window. */
const SIZES = { small: 0.65, medium: 1, large: 1.6 } as const;

/** The size of the images in the grid. */
type Size = keyof typeof SIZES;

const STORAGE_KEY = 'kiln.gallery';

/** The size that this browser has chosen, and how another is. */
function useSize(): readonly [Size, (size: Size) => void] {
  const [size, setSize] = useState<Size>(() => {
    const stored = localStorage.getItem(STORAGE_KEY) ?? '';
    return stored in SIZES ? (stored as Size) : 'medium';
  });
  const choose = (next: Size) => {
    localStorage.setItem(STORAGE_KEY, next);
    setSize(next);
  };
  return [size, choose];
}

interface SizeChoiceProps {
  readonly size: Size;
  readonly onChoose: (size: Size) => void;
}

/** Small images to look over many, large ones to compare them. */
function SizeChoice({ size, onChoose }: SizeChoiceProps) {
  return (
    <Segments
      className="max-sm:hidden"
      label={t('gallery.size')}
      values={Object.keys(SIZES) as Size[]}
      value={size}
      toText={(one) => t(`gallery.size.${one}`)}
      onChoose={onChoose}
    />
  );
}
