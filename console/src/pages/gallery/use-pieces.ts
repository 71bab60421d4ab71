import { useQuery } from '@apollo/client/react';
import { useEffect, useState } from 'react';

import { client } from '../../api/client.ts';
import {
  type MediaPartsFragment,
  TaskByIdDocument,
  TasksDocument,
  type TaskPartsFragment,
} from '../../api/operations.ts';
import { useBatches } from '../../work/batches.ts';

/** One file of the gallery, with the task that has made it. */
export interface Piece {
  readonly media: MediaPartsFragment;
  readonly task: TaskPartsFragment;
}

/** What the gallery shows. */
interface Pieces {
  readonly pieces: readonly Piece[];
  readonly error: Error | undefined;
  readonly isLoading: boolean;
  /** Loads the next page; null when there is none. */
  readonly showMore: (() => void) | null;
}

const PAGE = 60;

/** The outputs of the caller's tasks, newest first; of a visitor, those of the tasks that this browser has started. */
export function usePieces(isSignedIn: boolean): Pieces {
  const listed = useQuery(TasksDocument, {
    variables: { filter: { states: ['SUCCEEDED'] }, first: PAGE },
    fetchPolicy: 'cache-and-network',
    skip: !isSignedIn,
  });
  const own = useBrowserTasks(!isSignedIn);
  const tasks = isSignedIn ? listed.data?.tasks.edges.map(({ node }) => node) : own;
  const { hasNextPage = false, endCursor = null } = listed.data?.tasks.pageInfo ?? {};
  const showMore = () =>
    void listed.fetchMore({
      variables: { after: endCursor },
      updateQuery: (before, { fetchMoreResult: { tasks: more } }) => ({
        tasks: { ...more, edges: [...before.tasks.edges, ...more.edges] },
      }),
    });
  return {
    pieces: (tasks ?? []).flatMap((task) => task.outputs.map((media) => ({ media, task }))),
    error: listed.error,
    isLoading: tasks === undefined,
    showMore: isSignedIn && hasNextPage ? showMore : null,
  };
}

/** The tasks that this browser has started, by their ids; undefined while they are loaded. */
function useBrowserTasks(isWanted: boolean): readonly TaskPartsFragment[] | undefined {
  const [tasks, setTasks] = useState<readonly TaskPartsFragment[] | undefined>(undefined);
  const ids = useBatches().flatMap((batch) => batch.tasks);
  const key = isWanted ? ids.join(' ') : null;
  useEffect(() => {
    if (key === null) return undefined;
    let isStale = false;
    const asked = key.split(' ').filter((id) => id !== '');
    void Promise.allSettled(asked.map(loadTask)).then((answers) => {
      const found = answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : null));
      if (!isStale) setTasks(found.filter((task) => task !== null));
    });
    return () => {
      isStale = true;
    };
  }, [key]);
  return tasks;
}

async function loadTask(id: string): Promise<TaskPartsFragment | null> {
  const { data } = await client.query({ query: TaskByIdDocument, variables: { id } });
  return data?.task ?? null;
}
