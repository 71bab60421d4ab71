import { useQuery } from '@apollo/client/react';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';

import { useSeesAll } from '../api/caller.ts';
import { client } from '../api/client.ts';
import { FilesMadeDocument, GalleryDocument, PieceByIdDocument } from '../api/documents/gallery.ts';
import type { FilesMadeSubscription, MediaFilter } from '../api/documents/operations.ts';
import { useTaskFeed } from '../api/live-tasks.ts';
import { useTotal } from '../api/use-pages.ts';
import { t } from '../text/text.ts';
import { kept, type Dated, merged } from './arrivals.ts';
import type { Piece, Pieces } from './piece.tsx';
import { useBrowserPieces } from './use-browser-pieces.ts';

const PAGE = 200;
/** Most files that are kept as they arrive. */
const MOST_ARRIVED = 1_000;

interface Loaded {
  readonly pieces: readonly Piece[];
  readonly total: number | null;
  readonly after: string | null;
  readonly hasMore: boolean;
}

const NOTHING: Loaded = { pieces: [], total: null, after: null, hasMore: true };

/** The caller's files, newest first; of a visitor, the outputs of the tasks that this browser has started. */
export function usePieces(isSignedIn: boolean, filter: MediaFilter): Pieces {
  const own = useBrowserPieces(!isSignedIn, filter);
  const listed = useListedPieces(isSignedIn, filter);
  return isSignedIn ? listed : own;
}

/**
 * Pages are kept beside the client's cache, which would read all of them again with every page: that stutters from a
 * few thousand on.
 */
function useListedPieces(isWanted: boolean, filter: MediaFilter): Pieces {
  const [loaded, setLoaded] = useState<Loaded>(NOTHING);
  const [error, setError] = useState<unknown>(undefined);
  const running = useRef<AbortController | null>(null);
  const key = JSON.stringify(filter);

  const load = useCallback(
    async (after: string | null) => {
      const control = new AbortController();
      running.current = control;
      try {
        const page = await loadPage(JSON.parse(key) as MediaFilter, after, control.signal);
        if (control.signal.aborted) return;
        setLoaded((before) => ({
          ...page,
          pieces: after === null ? page.pieces : [...before.pieces, ...page.pieces],
        }));
      } catch (thrown) {
        if (!control.signal.aborted) setError(thrown);
      } finally {
        if (running.current === control) running.current = null;
      }
    },
    [key],
  );

  useEffect(() => {
    if (!isWanted) return undefined;
    setLoaded(NOTHING);
    setError(undefined);
    void load(null);
    return () => running.current?.abort();
  }, [isWanted, load]);

  const again = () => {
    setError(undefined);
    void load(loaded.after);
  };
  const { arrived, forget } = useArrived(isWanted);
  const { pieces, added } = useMemo(
    () => withArrived(loaded, arrived.values(), JSON.parse(key) as MediaFilter),
    [loaded, arrived, key],
  );
  return {
    pieces,
    total: useTotal(loaded.total, added),
    error,
    isLoading: loaded === NOTHING && error === undefined,
    again: error === undefined ? null : again,
    loadMore: () => {
      // Each drawing of the page asks for more where its end is near.
      if (error !== undefined) return;
      if (loaded.hasMore && loaded.after !== null && running.current === null) void load(loaded.after);
    },
    drop: (ids) => {
      forget(ids);
      setLoaded((before) => {
        const left = before.pieces.filter(({ media }) => !ids.has(media.id));
        const gone = before.pieces.length - left.length;
        return { ...before, pieces: left, total: before.total === null ? null : before.total - gone };
      });
    },
  };
}

/** The files that tasks have made since the page was opened. */
function useArrived(isWanted: boolean) {
  const [arrived, setArrived] = useState<ReadonlyMap<string, ArrivedPiece>>(new Map());
  const everyone = useSeesAll();
  useTaskFeed(FilesMadeDocument, {
    everyone,
    skip: !isWanted,
    onTasks: (tasks) => setArrived((before) => kept(before, tasks.flatMap(listPieces), MOST_ARRIVED)),
  });
  const forget = (ids: ReadonlySet<string>) =>
    setArrived((before) => new Map([...before].filter(([id]) => !ids.has(id))));
  return { arrived, forget };
}

async function loadPage(filter: MediaFilter, after: string | null, signal: AbortSignal): Promise<Loaded> {
  const { data } = await client.query({
    query: GalleryDocument,
    variables: { filter, first: PAGE, after },
    fetchPolicy: 'no-cache',
    context: { fetchOptions: { signal } },
  });
  if (data === undefined) throw new Error(t('problem.noAnswer'));
  const { edges, totalCount, pageInfo } = data.medias;
  return {
    pieces: edges.map(({ node: { task, starred, ...media } }) => ({ media, task, starred })),
    total: totalCount,
    after: pageInfo.endCursor,
    hasMore: pageInfo.hasNextPage,
  };
}

/** Files of the gallery that tasks have made since its pages were read. */

/** A file that a task has just made. */
interface ArrivedPiece extends Dated {
  readonly piece: Piece;
  readonly owner: string | null;
}

/** What a task has made; nothing before it has succeeded. */
function listPieces(task: FilesMadeSubscription['tasksProgress']['task']): readonly ArrivedPiece[] {
  if (task.state !== 'SUCCEEDED') return [];
  return task.outputs.map((media) => ({
    id: media.id,
    createdAt: media.createdAt,
    piece: { media, task },
    owner: task.owner,
  }));
}

/** The pages with what has arrived and fits the filter, each in its place; and how many were added. */
function withArrived(
  loaded: { readonly pieces: readonly Piece[]; readonly hasMore: boolean },
  arrived: Iterable<ArrivedPiece>,
  filter: MediaFilter,
): { readonly pieces: readonly Piece[]; readonly added: number } {
  const fitting = [...arrived].filter((one) => matches(one, filter));
  if (fitting.length === 0) return { pieces: loaded.pieces, added: 0 };
  const listed = loaded.pieces.map((piece) => ({
    id: piece.media.id,
    createdAt: piece.media.createdAt,
    piece,
    owner: null,
  }));
  const { items, added } = merged<ArrivedPiece>(listed, fitting, loaded.hasMore);
  return added === 0 ? { pieces: loaded.pieces, added } : { pieces: items.map(({ piece }) => piece), added };
}

function matches({ piece: { media, task }, owner, createdAt }: ArrivedPiece, filter: MediaFilter): boolean {
  const { kinds, text, generator, model, createdAfter, createdBefore } = filter;
  // What has just been made is on no board yet, and has no star.
  if (filter.board || filter.starred) return false;
  if (kinds && !kinds.some((kind) => media.contentType.startsWith(`${kind.toLowerCase()}/`))) return false;
  if (filter.owner && filter.owner !== 'anon' && owner !== filter.owner) return false;
  if (generator && task?.generator !== generator) return false;
  if (model && task?.model !== model) return false;
  if (createdAfter && createdAt <= createdAfter) return false;
  if (createdBefore && createdAt >= createdBefore) return false;
  return !text || (task?.input?.prompt ?? '').toLowerCase().includes(text.toLowerCase());
}

/** The piece that the address names, also where the list does not hold it (yet); and its index there, else -1. */
export function useOpenPiece(open: string | undefined, pieces: readonly Piece[]) {
  const current = useMemo(() => pieces.findIndex(({ media }) => media.id === open), [pieces, open]);
  const listed = pieces[current];
  const { data } = useQuery(PieceByIdDocument, {
    variables: { id: open ?? '' },
    skip: open === undefined || listed !== undefined,
  });
  const found = useMemo((): Piece | undefined => {
    const media = open === undefined ? undefined : data?.media;
    return media ? { media, task: media.task, starred: media.starred } : undefined;
  }, [open, data]);
  return { current, piece: listed ?? found };
}
