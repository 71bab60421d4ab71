import type { TypedDocumentNode } from '@apollo/client';
import { useQuery, useSubscription } from '@apollo/client/react';
import { useEffect, useRef, useState } from 'react';

import { cache } from './client.ts';
import { TaskByIdDocument, TaskEventsDocument } from './documents/api.ts';
import type { TaskPartsFragment, TasksProgressSubscriptionVariables } from './documents/operations.ts';
import { kiln } from './kiln.ts';

/** A task that follows its events until it ends. */
interface LiveTask {
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

/** The feed of all tasks, with as much of each as a page shows. */
type FeedDocument<Task> = TypedDocumentNode<
  { readonly tasksProgress: { readonly task: Task } },
  TasksProgressSubscriptionVariables
>;

interface FeedOptions<Task> {
  /** Whether the tasks of everyone are followed; for administrators. */
  readonly everyone: boolean;
  readonly skip?: boolean;
  /** Receives tasks that have moved, several at a time, each as it was last. */
  readonly onTasks: (tasks: readonly Task[]) => void;
}

/** Events of the time between the page and the subscription are replayed. */
const OVERLAP_MS = 10_000;
/** Events of so long are passed on together: a page is drawn once for them. */
const BATCH_WINDOW_MS = 100;

/**
 * Follows all tasks of the caller by one subscription, also those that start anywhere. After a lost connection it goes on
 * after the last event that it has seen. Answers what it has failed with. Whoever asks keeps the tasks: the cache would take
 * each of them apart, and put together again every list that has it.
 */
export function useTaskFeed<Task extends { readonly id: string }>(
  document: FeedDocument<Task>,
  { everyone, skip = false, onTasks }: FeedOptions<Task>,
): Error | undefined {
  const [endedSince] = useState(() => new Date(Date.now() - OVERLAP_MS).toISOString());
  const waiting = useRef(new Map<string, Task>());
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const receive = useRef(onTasks);
  useEffect(() => {
    receive.current = onTasks;
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  const { error } = useSubscription(document, {
    variables: { everyone, endedSince },
    skip,
    fetchPolicy: 'no-cache',
    onData: ({ data: { data: event } }) => {
      if (event === undefined) return;
      const { task } = event.tasksProgress;
      waiting.current.set(task.id, task);
      timer.current ??= setTimeout(() => {
        timer.current = undefined;
        const tasks = [...waiting.current.values()];
        waiting.current.clear();
        receive.current(tasks);
      }, BATCH_WINDOW_MS);
    },
  });
  return error;
}

/** Asks for the end of a task; that it was asked is shown at once, its end by its events. */
export async function cancelTask(id: string): Promise<void> {
  const { cancelRequestedAt, endedAt } = await kiln.cancel(id);
  cache.modify({
    id: cache.identify({ __typename: 'Task', id }) ?? '',
    fields: { cancelRequestedAt: () => cancelRequestedAt ?? endedAt },
  });
}
