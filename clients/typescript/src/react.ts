import { useEffect, useState } from 'react';

import { isEnded, type Kiln } from './client.ts';
import type { Task } from './graph.ts';

/** React hooks: a task, and the tasks of the caller, as they go on. */

/** A task as it is. */
export interface TaskView {
  /** Undefined until it is loaded, or without an id. */
  readonly task: Task | undefined;
  /** Why it can not be loaded or followed; its own failure is `task.error`. */
  readonly error: Error | undefined;
}

const NO_TASK: TaskView = { task: undefined, error: undefined };

/** Loads a task and follows it to its end. `kiln` is to be the same object at each render. */
export function useTask(kiln: Kiln, id: string | null | undefined): TaskView {
  const [view, setView] = useState(NO_TASK);
  useEffect(() => {
    setView(NO_TASK);
    if (!id) return undefined;
    return run(
      async (signal) => {
        const task = await kiln.task(id, { signal });
        setView({ task, error: undefined });
        if (isEnded(task)) return;
        const events = kiln.follow(id, { signal, afterSeq: task.lastSeq });
        for await (const event of events) setView({ task: event.task, error: undefined });
      },
      (error) => setView(({ task }) => ({ task, error })),
    );
  }, [kiln, id]);
  return view;
}

/** Tasks as they are. */
export interface TasksView {
  /** The newest first; undefined until they are loaded. */
  readonly tasks: readonly Task[] | undefined;
  readonly error: Error | undefined;
}

/** The newest tasks of the caller, `first` of them (default 50), with those that start later. Anonymous callers have none to follow. */
export function useTasks(kiln: Kiln, { first = 50 }: { readonly first?: number } = {}): TasksView {
  const [view, setView] = useState<TasksView>({ tasks: undefined, error: undefined });
  useEffect(
    () =>
      run(
        async (signal) => {
          // From before they are read, so that nothing falls between the two.
          const since = new Date(Date.now() - OVERLAP_MS).toISOString();
          const { tasks } = await kiln.tasks({ first, signal });
          setView({ tasks, error: undefined });
          for await (const { task } of kiln.followAll({ since, signal })) {
            setView((before) => ({
              tasks: withTask(before.tasks ?? [], task).slice(0, first),
              error: undefined,
            }));
          }
        },
        (error) => setView(({ tasks }) => ({ tasks, error })),
      ),
    [kiln, first],
  );
  return view;
}

/** More than clocks differ by. */
const OVERLAP_MS = 10_000;

function withTask(tasks: readonly Task[], task: Task): readonly Task[] {
  if (tasks.some(({ id }) => id === task.id)) return tasks.map((one) => (one.id === task.id ? task : one));
  return [task, ...tasks].toSorted((one, other) => (one.createdAt < other.createdAt ? 1 : -1));
}

/** Runs work until it is cleaned up, after which it tells nothing any more. */
function run(work: (signal: AbortSignal) => Promise<void>, onError: (error: Error) => void): () => void {
  const controller = new AbortController();
  work(controller.signal).catch((error: unknown) => {
    if (!controller.signal.aborted) onError(error as Error);
  });
  return () => controller.abort();
}
