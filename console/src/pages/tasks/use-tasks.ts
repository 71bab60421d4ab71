import type { Reference } from '@apollo/client';
import { useSubscription } from '@apollo/client/react';
import { useEffect, useState } from 'react';

import { cache, client } from '../../api/client.ts';
import { lastHeard, useConnection } from '../../api/connection.ts';
import {
  type TaskFilter,
  TasksDocument,
  TasksProgressDocument,
  type TasksProgressSubscription,
  type TasksQuery,
} from '../../api/operations.ts';
import { useHealing } from '../../api/use-healing.ts';
import { usePages } from '../../api/use-pages.ts';

/** A task of the list. */
export type ListedTask = TasksQuery['tasks']['edges'][number]['node'];

interface Tasks {
  readonly tasks: readonly ListedTask[];
  readonly total: number | null;
  readonly error: unknown;
  readonly isLoading: boolean;
  /** Loads the next page; null when there is none. */
  readonly more: (() => void) | null;
}

const PAGE = 30;
/** Most rows that are kept while new ones arrive on top. */
const MOST = 300;
/** Events of the time between the page and the subscription are replayed. */
const OVERLAP_MS = 10_000;

/**
 * The tasks that the caller sees, newest first, which follow one subscription to all of them: rows change by its events, tasks that
 * start anywhere appear on top. After a lost connection the ends that were missed are replayed.
 */
export function useTasks(filter: TaskFilter, seesAll: boolean): Tasks {
  const variables = { filter, first: PAGE };
  const { list, edges, error, isLoading, more } = usePages(TasksDocument, 'tasks', { variables });
  const endedSince = useEndedSince();
  const live = useSubscription(TasksProgressDocument, {
    variables: { everyone: seesAll, endedSince },
    onData: ({ data: { data: event } }) => {
      if (event !== undefined) putOnTop(event.tasksProgress.task, variables);
    },
  });
  useHealing(live);
  return {
    tasks: edges.map(({ node }) => node).filter((task) => matches(task, filter)),
    total: list?.totalCount ?? null,
    error: error ?? live.error,
    isLoading,
    more,
  };
}

/** The moment from which ends are replayed: this page's opening, or the last sign of the connection that was lost. */
function useEndedSince(): string {
  const [since, setSince] = useState(overlapping);
  const connection = useConnection();
  useEffect(() => {
    if (connection === 'lost') setSince(overlapping(lastHeard()));
  }, [connection]);
  return since;
}

function overlapping(moment = Date.now()): string {
  return new Date(moment - OVERLAP_MS).toISOString();
}

type EventTask = TasksProgressSubscription['tasksProgress']['task'];

/** A list as the cache stores it: each edge refers to its task. */
interface StoredTasks {
  readonly edges: readonly { readonly node: Reference }[];
  readonly totalCount: number;
}

/**
 * A task that the list does not have yet goes to its top, if it is newer than all and the filter lets it in. The other edges stay the
 * objects they are: written anew, every row would be read and remembered anew with each task.
 */
function putOnTop(task: EventTask, variables: { readonly filter: TaskFilter; readonly first: number }): void {
  if (!matches(task, variables.filter)) return;
  const name = cache.policies.getStoreFieldName({ typename: 'Query', fieldName: 'tasks', args: variables });
  let length = 0;
  cache.modify<{ readonly tasks: StoredTasks }>({
    fields: {
      tasks(list, { storeFieldName, readField, toReference }) {
        if (storeFieldName !== name || !('edges' in list)) return list;
        const known = list as StoredTasks;
        const [newest] = known.edges;
        const createdAt = newest === undefined ? '' : readField<string>('createdAt', newest.node);
        const isKnown = known.edges.some(({ node }) => readField('id', node) === task.id);
        const node = toReference({ __typename: 'Task', id: task.id });
        if (isKnown || node === undefined || task.createdAt < (createdAt ?? '')) return list;
        const edges = [{ __typename: 'TaskEdge', cursor: '', node }, ...known.edges];
        length = edges.length;
        return { ...known, edges, totalCount: known.totalCount + 1 };
      },
    },
  });
  if (length > MOST) beginAnew(variables);
}

/** A page that is open for days begins its list anew, and forgets the tasks that are on no list any more. */
function beginAnew(variables: { readonly filter: TaskFilter; readonly first: number }): void {
  client.query({ query: TasksDocument, variables, fetchPolicy: 'network-only' }).then(
    () => cache.gc(),
    () => undefined,
  );
}

function matches(task: EventTask | ListedTask, filter: TaskFilter): boolean {
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
