import { useCallback, useEffect, useMemo, useRef, useState } from 'react';

import { client } from '../api/client.ts';
import { GalleryDocument } from '../api/documents/gallery.ts';
import type { MediaFilter } from '../api/documents/operations.ts';
import { useSeesAll } from '../api/use-caller.ts';
import { useTaskFeed } from '../api/use-task-feed.ts';
import { t } from '../text/text.ts';
import { kept } from './arrivals.ts';
import { type ArrivedPiece, piecesOf, withArrived } from './arrived-pieces.ts';
import type { Piece, Pieces } from './pieces.ts';
import { useBrowserPieces } from './use-browser-pieces.ts';
import { useTotal } from './use-total.ts';

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
    loadMore: () => {
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
  useTaskFeed({
    everyone,
    skip: !isWanted,
    onTasks: (tasks) => setArrived((before) => kept(before, tasks.flatMap(piecesOf), MOST_ARRIVED)),
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
