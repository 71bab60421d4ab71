import { moneyText } from '../../../parts/money.ts';
import { durationText } from '../../../parts/time.tsx';
import { t, textOr } from '../../../text/text.ts';
import type { Varied } from '../../../work/batches.ts';
import { textOf } from '../../../work/work.ts';
import type { Shot, Watched } from './shots.ts';

/** What is said of a result in one line. Pure. */

/** The model, what it was asked for, what it cost and how long it took. */
export function factsOf({ batch, task }: Pick<Shot, 'batch' | 'task'>): readonly string[] {
  const { modelName, values } = batch;
  const duration = textOf(values['duration']);
  return [
    modelName,
    textOf(values['aspectRatio']),
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
