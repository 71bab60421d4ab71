import type { MediaPartsFragment, TaskPartsFragment } from '../../../api/documents/operations.ts';
import { isEnded } from '../../../api/live-tasks.ts';
import { moneyText } from '../../../parts/money.ts';
import { durationText } from '../../../parts/time.tsx';
import { t, textOr } from '../../../text/text.ts';
import type { Batch, Varied } from '../../../work/batches.ts';
import { toText } from '../../../work/work.ts';

/** What was made here, one by one, as the stage and the strip below it show it. Pure. */

/** A task as far as it is known: undefined while it is loaded, null when it was deleted. */
export type Watched = TaskPartsFragment | null | undefined;

/** What is known of a task that is watched, and why it can't be. */
export interface Known {
  readonly task: Watched;
  readonly error: Error | undefined;
}

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
export function listShots(
  batches: readonly Batch[],
  tasks: ReadonlyMap<string, Pick<Known, 'task'>>,
): readonly Shot[] {
  return batches.flatMap((batch) =>
    batch.tasks.flatMap((taskId): readonly Shot[] => {
      const task = tasks.get(taskId)?.task;
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

/** What is said of a result in one line. Pure. */

/** The model, what it was asked for, what it cost and how long it took. */
export function listFacts({ batch, task }: Pick<Shot, 'batch' | 'task'>): readonly string[] {
  const { modelName, values } = batch;
  const duration = toText(values['duration']);
  return [
    modelName,
    toText(values['aspectRatio']),
    duration === '' ? '' : t('time.seconds', { seconds: duration }),
    costText(task) ?? '',
    timeText(task) ?? '',
  ].filter((fact) => fact !== '');
}

/** What it cost; that it was free in the sandbox; null while that is not known. */
export function costText(task: Watched): string | null {
  if (!task) return null;
  if (task.sandbox) return t('sheet.free');
  return task.cost === null ? null : moneyText(task.cost);
}

/** How long it was worked at; null while it has not ended. */
export function timeText(task: Watched): string | null {
  const { startedAt = null, endedAt = null } = task ?? {};
  return startedAt === null || endedAt === null
    ? null
    : durationText(Date.parse(endedAt) - Date.parse(startedAt));
}

/** What differs, as a heading: "16:9", "Seed 7". */
export function variedText({ name, value }: Varied): string {
  const word = typeof value === 'string' ? value : JSON.stringify(value);
  const text = textOr(`value.${word}`, word);
  return /^-?[\d.]+$/.test(text) ? `${axisText(name)} ${text}` : text;
}

/** What an axis is called. */
export function axisText(name: string): string {
  if (name === 'model') return t('studio.model');
  const last = name.split('.').at(-1) ?? name;
  return textOr(`field.${name}`, textOr(`option.${last}`, last));
}

/** What can be done with what was made. */
export interface ResultActions {
  readonly onRemix: (batch: Batch) => void;
  readonly onAgain: (batch: Batch) => void;
  readonly onVary: (batch: Batch, media: MediaPartsFragment) => void;
}
