import { useQuery, useSubscription } from '@apollo/client/react';

import { TaskByIdDocument, TaskEventsDocument } from './documents/api.ts';
import type { TaskPartsFragment } from './documents/operations.ts';

/** A task that follows its events until it ends. */
export interface LiveTask {
  /** Undefined while it is loaded; null when there is none, or it is somebody else's. */
  readonly task: TaskPartsFragment | null | undefined;
  readonly error: Error | undefined;
}

/** Whether a task has ended. */
export function isEnded({ state }: Pick<TaskPartsFragment, 'state'>): boolean {
  return state !== 'QUEUED' && state !== 'RUNNING';
}

/**
 * Loads a task and follows it: every event carries the task, which the cache takes over. After a lost connection the
 * server replays what was missed since the event that the task was loaded with.
 */
export function useLiveTask(id: string): LiveTask {
  const { data, error } = useQuery(TaskByIdDocument, { variables: { id } });
  const task = data?.task;
  const live = useSubscription(TaskEventsDocument, {
    variables: { id, afterSeq: task?.lastSeq ?? null },
    skip: task === undefined || task === null || isEnded(task),
    // A new lastSeq with every event must not start a new subscription.
    shouldResubscribe: false,
  });
  return { task, error: error ?? live.error };
}
