import { useEffect, useMemo, useState } from 'react';

import { client } from '../../api/client.ts';
import { CastDocument, CastOfTaskDocument } from '../../api/documents/library.ts';
import type { CastPartsFragment, TaskFilter } from '../../api/documents/operations.ts';
import { useCaller } from '../../api/use-caller.ts';
import { usePages } from '../../api/use-pages.ts';
import { useBatches } from '../../work/batches.ts';
import { CAST_KINDS, type Member, membersOf } from './members.ts';

/** Everybody that the caller has made. */
export interface Cast {
  readonly members: readonly Member[];
  readonly isLoading: boolean;
  /** Loads those made before; null when all are there. */
  readonly more: (() => void) | null;
  readonly error: unknown;
}

/** Most tasks of this browser that are looked at for a visitor. */
const MOST = 50;
const PAGE = 100;

/** The caller's own characters, avatars and voices; of a visitor those that this browser has started. */
export function useCast(): Cast {
  const caller = useCaller();
  const isKnown = caller !== undefined && caller.kind !== 'ANONYMOUS';
  const filter = useMemo(
    (): TaskFilter => ({ kinds: [...CAST_KINDS], states: ['SUCCEEDED'], owner: caller?.id ?? '' }),
    [caller?.id],
  );
  const { list, edges, error, isLoading, more } = usePages(CastDocument, 'tasks', {
    variables: { filter, first: PAGE },
    skip: !isKnown,
  });
  const own = useVisitorsTasks(caller !== undefined && !isKnown);
  const tasks = useMemo(() => (isKnown ? edges.map(({ node }) => node) : (own ?? [])), [isKnown, edges, own]);
  return {
    members: useMemo(() => membersOf(tasks), [tasks]),
    isLoading: isKnown ? isLoading && list === undefined : own === undefined,
    more,
    error,
  };
}

function useVisitorsTasks(isWanted: boolean): readonly CastPartsFragment[] | undefined {
  const [tasks, setTasks] = useState<readonly CastPartsFragment[] | undefined>(undefined);
  const batches = useBatches();
  const ids = batches
    .filter(({ kind }) => (CAST_KINDS as readonly string[]).includes(kind))
    .flatMap((batch) => batch.tasks)
    .slice(0, MOST)
    .join(' ');
  useEffect(() => {
    if (!isWanted) return undefined;
    let isStale = false;
    const wanted = ids.split(' ').filter((id) => id !== '');
    const load = async (id: string) =>
      (await client.query({ query: CastOfTaskDocument, variables: { id } })).data?.task ?? null;
    void Promise.allSettled(wanted.map(load)).then((answers) => {
      if (isStale) return;
      const found = answers.map((one) => (one.status === 'fulfilled' ? one.value : null));
      setTasks(found.filter((task) => task !== null));
    });
    return () => {
      isStale = true;
    };
  }, [isWanted, ids]);
  return tasks;
}
