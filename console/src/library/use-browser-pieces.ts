import { useEffect, useMemo, useState } from 'react';

import { client } from '../api/client.ts';
import { TaskByIdDocument } from '../api/documents/api.ts';
import type { MediaFilter, MediaPartsFragment, TaskPartsFragment } from '../api/documents/operations.ts';
import { kiln } from '../api/kiln.ts';
import { isEnded } from '../api/live-tasks.ts';
import { useBatches } from '../work/batches.ts';
import type { Pieces } from './piece.tsx';

/** The outputs of the tasks that this browser has started; those that run are followed to their end. */
export function useBrowserPieces(isWanted: boolean, { kinds }: MediaFilter): Pieces {
  const [tasks, setTasks] = useState<ReadonlyMap<string, TaskPartsFragment> | undefined>(undefined);
  const [error, setError] = useState<unknown>(undefined);
  const [gone, setGone] = useState<ReadonlySet<string>>(new Set());
  const ids = useBatches()
    .flatMap((batch) => batch.tasks)
    .join(' ');
  const key = isWanted ? ids : null;
  useEffect(() => {
    if (key === null) return undefined;
    const control = new AbortController();
    const wanted = key.split(' ').filter((id) => id !== '');
    const put = (task: TaskPartsFragment) =>
      setTasks((before) => new Map([...(before ?? []), [task.id, task]]));
    void Promise.allSettled(wanted.map((id) => loadTask(id))).then((answers) => {
      if (control.signal.aborted) return;
      const found = answers.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
      setError(answers.find((one) => one.status === 'rejected')?.reason);
      setTasks(new Map(found.map((task) => [task.id, task])));
      for (const task of found) {
        // Without a result there is no image; one that is missed is there at the next visit.
        if (!isEnded(task)) follow(task.id, control.signal, put).catch(() => undefined);
      }
    });
    return () => control.abort();
  }, [key]);
  const shown = useMemo(() => {
    const made = ids.split(' ').flatMap((id) => tasks?.get(id) ?? []);
    return made
      .flatMap((task) => task.outputs.map((media) => ({ media, task })))
      .filter(({ media }) => !gone.has(media.id) && isOfKind(media, kinds));
  }, [ids, tasks, gone, kinds]);
  return {
    pieces: shown,
    total: tasks === undefined ? null : shown.length,
    error,
    isLoading: tasks === undefined,
    again: null,
    loadMore: () => undefined,
    drop: (dropped) => setGone((before) => new Set([...before, ...dropped])),
  };
}

function isOfKind({ contentType }: Pick<MediaPartsFragment, 'contentType'>, kinds: MediaFilter['kinds']) {
  return !kinds || kinds.some((kind) => contentType.startsWith(`${kind.toLowerCase()}/`));
}

async function loadTask(id: string, isFresh = false): Promise<readonly TaskPartsFragment[]> {
  const fetchPolicy = isFresh ? 'network-only' : 'cache-first';
  const { data } = await client.query({ query: TaskByIdDocument, variables: { id }, fetchPolicy });
  return data?.task ? [data.task] : [];
}

/** Tells the task when it has a result. */
async function follow(
  id: string,
  signal: AbortSignal,
  tell: (task: TaskPartsFragment) => void,
): Promise<void> {
  await kiln.result(id, { signal });
  const [task] = await loadTask(id, true);
  if (task !== undefined && !signal.aborted) tell(task);
}
