import { useSubscription } from '@apollo/client/react';
import { useEffect, useRef, useState } from 'react';

import type { TasksProgressSubscription } from './documents/operations.ts';
import { TasksProgressDocument } from './documents/tasks.ts';

/** A task as the feed tells it. */
export type FedTask = TasksProgressSubscription['tasksProgress']['task'];

interface FeedOptions {
  /** Whether the tasks of everyone are followed; for administrators. */
  readonly everyone: boolean;
  readonly skip?: boolean;
  /** Hears of tasks that have moved, several at a time; each is told as it was last. */
  readonly onTasks: (tasks: readonly FedTask[]) => void;
}

/** Events of the time between the page and the subscription are replayed. */
const OVERLAP_MS = 10_000;
/** Events of so long are told together: a page is drawn once for them. */
const TOGETHER_MS = 100;

/**
 * Follows all tasks of the caller by one subscription, also those that start anywhere. After a lost connection it goes on
 * after the last event that it has seen. Answers what it has failed with.
 */
export function useTaskFeed({ everyone, skip = false, onTasks }: FeedOptions): Error | undefined {
  const [endedSince] = useState(() => new Date(Date.now() - OVERLAP_MS).toISOString());
  const waiting = useRef(new Map<string, FedTask>());
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const hear = useRef(onTasks);
  useEffect(() => {
    hear.current = onTasks;
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  const { error } = useSubscription(TasksProgressDocument, {
    variables: { everyone, endedSince },
    skip,
    onData: ({ data: { data: event } }) => {
      if (event === undefined) return;
      const { task } = event.tasksProgress;
      waiting.current.set(task.id, task);
      timer.current ??= setTimeout(() => {
        timer.current = undefined;
        const tasks = [...waiting.current.values()];
        waiting.current.clear();
        hear.current(tasks);
      }, TOGETHER_MS);
    },
  });
  return error;
}
