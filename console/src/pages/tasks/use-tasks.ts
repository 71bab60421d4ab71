import { useEffect, useMemo, useRef, useState } from 'react';

import type { RowPartsFragment, TaskFilter } from '../../api/documents/operations.ts';
import { TasksDocument, TasksProgressDocument } from '../../api/documents/tasks.ts';
import { useTaskFeed } from '../../api/live-tasks.ts';
import { usePages, useTotal } from '../../api/use-pages.ts';
import { kept, merged } from '../../library/arrivals.ts';

const PAGE = 30;
const NEXT_PAGE = 100;
/** Most tasks that are kept as they arrive; with more, the list is asked for anew. */
const MOST = 300;

/**
 * The tasks that the caller sees, newest first, which follow one feed of all of them: rows change by its events, tasks that
 * start anywhere appear in their place, in whatever order their events come.
 */
export function useTasks(filter: TaskFilter, seesAll: boolean) {
  const { list, edges, error, isLoading, more, refetch } = usePages(TasksDocument, 'tasks', {
    variables: { filter, first: PAGE },
    next: NEXT_PAGE,
    isUncached: true,
  });
  const { arrived, error: failure } = useArrivedTasks(seesAll, refetch);
  const hasMore = list?.pageInfo.hasNextPage === true;
  const { items, added } = useMemo(() => {
    const listed = edges.map(({ node }) => newer(node, arrived.get(node.id)));
    const fitting = [...arrived.values()].filter((task) => matchesTask(task, filter));
    return merged<RowPartsFragment>(listed, fitting, hasMore);
  }, [edges, arrived, filter, hasMore]);
  const total = useTotal(list?.totalCount ?? null, added);
  return {
    tasks: useMemo(() => items.filter((task) => matchesTask(task, filter)), [items, filter]),
    total: total === null ? null : Math.max(total, items.length),
    error: error ?? failure,
    isLoading,
    /** Loads the next page; null when there is none. */
    more,
  };
}

/** What the feed has told since the page was opened. */
function useArrivedTasks(seesAll: boolean, refetch: () => Promise<unknown>) {
  const [arrived, setArrived] = useState<ReadonlyMap<string, RowPartsFragment>>(new Map());
  const isBeginningAnew = useRef(false);
  const error = useTaskFeed(TasksProgressDocument, {
    everyone: seesAll,
    onTasks: (tasks) => setArrived((before) => kept(before, tasks, MOST)),
  });
  useEffect(() => {
    if (arrived.size < MOST || isBeginningAnew.current) return;
    isBeginningAnew.current = true;
    // What came while it was asked for may not be in the answer.
    const forget = () =>
      setArrived((now) => new Map([...now].filter(([id, task]) => arrived.get(id) !== task)));
    refetch()
      .then(forget, () => undefined)
      .finally(() => {
        isBeginningAnew.current = false;
      });
  }, [arrived, refetch]);
  return { arrived, error };
}

/** The newer of what the list and the feed report of a task. */
function newer(listed: RowPartsFragment, arrived: RowPartsFragment | undefined): RowPartsFragment {
  return arrived !== undefined && arrived.lastSeq >= listed.lastSeq ? arrived : listed;
}

/** Whether a list that is filtered so has this task. What the server alone can tell counts as yes. */
function matchesTask(task: RowPartsFragment, filter: TaskFilter): boolean {
  const { states, kinds, text, owner, generator, model, createdAfter, createdBefore } = filter;
  if (states && !states.includes(task.state)) return false;
  if (kinds && !kinds.includes(task.kind)) return false;
  // Nobody's tasks have no owner to compare.
  if (owner && owner !== 'anon' && task.owner !== owner) return false;
  if (generator && task.generator !== generator) return false;
  if (model && task.model !== model && task.input?.model !== model) return false;
  if (createdAfter && task.createdAt <= createdAfter) return false;
  if (createdBefore && task.createdAt >= createdBefore) return false;
  // What the server finds by words is not repeated here: a task whose prompt is not told stays.
  const prompt = task.input?.prompt;
  return !text || typeof prompt !== 'string' || prompt.toLowerCase().includes(text.toLowerCase());
}
