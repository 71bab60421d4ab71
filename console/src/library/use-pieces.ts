import { useCallback, useEffect, useRef, useState } from 'react';

import { client } from '../api/client.ts';
import {
  GalleryDocument,
  type ProducerPartsFragment,
  type MediaFilter,
  type MediaPartsFragment,
  TaskByIdDocument,
} from '../api/operations.ts';
import { t } from '../text/text.ts';
import { useBatches } from '../work/batches.ts';

/** One file of the gallery, with the task that has made it; null for an upload. */
export interface Piece {
  readonly media: MediaPartsFragment;
  readonly task: Producer | null;
}

/** What is shown of the task of a piece; visitors know what they asked for from this browser. */
type Producer = Pick<ProducerPartsFragment, 'id' | 'kind' | 'generator'> & Partial<ProducerPartsFragment>;

/** What the gallery shows. */
interface Pieces {
  readonly pieces: readonly Piece[];
  /** How many there are, loaded or not; null when that is not known. */
  readonly total: number | null;
  readonly error: unknown;
  readonly isLoading: boolean;
  /** Loads the next page, once however often it is called; nothing when there is none. */
  readonly loadMore: () => void;
  /** Takes deleted files out. */
  readonly drop: (ids: ReadonlySet<string>) => void;
}

const PAGE = 200;

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

  return {
    ...loaded,
    error,
    isLoading: loaded === NOTHING && error === undefined,
    loadMore: () => {
      if (loaded.hasMore && loaded.after !== null && running.current === null) void load(loaded.after);
    },
    drop: (ids) =>
      setLoaded((before) => {
        const pieces = before.pieces.filter(({ media }) => !ids.has(media.id));
        const gone = before.pieces.length - pieces.length;
        return { ...before, pieces, total: before.total === null ? null : before.total - gone };
      }),
  };
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
    pieces: edges.map(({ node: { task, ...media } }) => ({ media, task })),
    total: totalCount,
    after: pageInfo.endCursor,
    hasMore: pageInfo.hasNextPage,
  };
}

/** The outputs of the tasks that this browser has started. */
function useBrowserPieces(isWanted: boolean, { kinds }: MediaFilter): Pieces {
  const [pieces, setPieces] = useState<readonly Piece[] | undefined>(undefined);
  const ids = useBatches().flatMap((batch) => batch.tasks);
  const key = isWanted ? ids.join(' ') : null;
  useEffect(() => {
    if (key === null) return undefined;
    let isStale = false;
    const requested = key.split(' ').filter((id) => id !== '');
    void Promise.allSettled(requested.map(loadTask)).then((answers) => {
      const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
      if (!isStale) setPieces(found);
    });
    return () => {
      isStale = true;
    };
  }, [key]);
  const shown = (pieces ?? []).filter(
    ({ media }) => !kinds || kinds.some((kind) => media.contentType.startsWith(`${kind.toLowerCase()}/`)),
  );
  return {
    pieces: shown,
    total: pieces === undefined ? null : shown.length,
    error: undefined,
    isLoading: pieces === undefined,
    loadMore: () => undefined,
    drop: (gone) => setPieces((before) => before?.filter(({ media }) => !gone.has(media.id))),
  };
}

async function loadTask(id: string): Promise<readonly Piece[]> {
  const { data } = await client.query({ query: TaskByIdDocument, variables: { id } });
  const task = data?.task;
  if (task === undefined || task === null) return [];
  return task.outputs.map((media) => ({ media, task }));
}
