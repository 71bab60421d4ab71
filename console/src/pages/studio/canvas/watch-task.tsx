import { useCallback, useEffect, useState } from 'react';

import { useLiveTask } from '../../../api/use-live-task.ts';
import type { Watched } from './shots.ts';

interface WatchTaskProps {
  readonly id: string;
  /** What is known of it now; the same function each time. */
  readonly onChange: (id: string, task: Watched, error: Error | undefined) => void;
}

/** Follows one task, once, however many places show it. */
export function WatchTask({ id, onChange }: WatchTaskProps) {
  const { task, error } = useLiveTask(id);
  useEffect(() => onChange(id, task, error), [id, task, error, onChange]);
  return null;
}

/** What is known of the tasks that are watched, and why one of them can't be. */
export function useTasks() {
  const [tasks, setTasks] = useState<ReadonlyMap<string, Watched>>(new Map());
  const [error, setError] = useState<Error | undefined>(undefined);
  const watch = useCallback((id: string, task: Watched, problem: Error | undefined) => {
    setTasks((before) => (before.get(id) === task ? before : new Map([...before, [id, task]])));
    setError(problem);
  }, []);
  return { tasks, error, watch };
}
