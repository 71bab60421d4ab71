import type { MediaPartsFragment, TaskPartsFragment } from '../../../api/documents/operations.ts';
import { isEnded } from '../../../api/use-live-task.ts';
import type { Batch } from '../../../work/batches.ts';

/** What was made here, one by one, as the stage and the strip below it show it. Pure. */

/** A task as far as it is known: undefined while it is loaded, null when it was deleted. */
export type Watched = TaskPartsFragment | null | undefined;

/** One result, or the work that has none (yet). */
export interface Shot {
  /** Id of the file, else of the task. */
  readonly id: string;
  readonly batch: Batch;
  readonly taskId: string;
  readonly task: Watched;
  readonly media: MediaPartsFragment | null;
}

/** Submissions that are shown: those of a sheet count as one. */
const MOST_GROUPS = 20;

/** The newest submissions, whole sheets among them. */
export function shownBatches(batches: readonly Batch[], most = MOST_GROUPS): readonly Batch[] {
  const groups = new Set<string>();
  return batches.filter(({ id, cell }) => {
    const group = cell?.sheet ?? id;
    if (groups.size === most && !groups.has(group)) return false;
    groups.add(group);
    return true;
  });
}

/** The shots of these submissions, in their order. */
export function shotsOf(batches: readonly Batch[], tasks: ReadonlyMap<string, Watched>): readonly Shot[] {
  return batches.flatMap((batch) =>
    batch.tasks.flatMap((taskId): readonly Shot[] => {
      const task = tasks.get(taskId);
      const base = { batch, taskId, task };
      if (!task || task.outputs.length === 0) return [{ ...base, id: taskId, media: null }];
      return task.outputs.map((media) => ({ ...base, id: media.id, media }));
    }),
  );
}

/** Whether it may still get a result. */
export function isWorking({ task }: Pick<Shot, 'task'>): boolean {
  return task === undefined || (task !== null && !isEnded(task));
}

/** The one that was chosen, also when its task has got results since; else the newest. */
export function chosenShot(shots: readonly Shot[], id: string | null): Shot | undefined {
  if (id === null) return shots[0];
  return shots.find((shot) => shot.id === id) ?? shots.find((shot) => shot.taskId === id) ?? shots[0];
}

/** The shot before (-1) or after (1) another one; undefined at an end. */
export function shotBeside(shots: readonly Shot[], id: string, step: -1 | 1): Shot | undefined {
  return shots[shots.findIndex((shot) => shot.id === id) + step];
}
