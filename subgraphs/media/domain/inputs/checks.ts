import { badInput, type Problem } from '../../../../platform/errors.ts';
import type { ModelLimits } from './model-limits.ts';
import { NOT_TAKEN } from './vendor-options/schema.ts';

/** What may be wrong with the inputs of work, for the rules of every kind. Pure. */

/** Upper bounds where the catalog names none. */
export const MAX_PROMPT = 20_000;
const MAX_COUNT = 10;

/** The limits of a model; undefined where none is known. */
export type Limits = ModelLimits | undefined;

/** A number of results that is no positive integer, or that the model does not make; one that lists no `count` makes one. */
export function countProblems(count: number | undefined, limits: Limits): readonly Problem[] {
  if (count === undefined) return [];
  if (limits?.counts) return choiceProblems('count', count, limits.counts);
  const isUnlisted = limits !== undefined && !limits.inputs.includes('count');
  const most = limits?.maxCount ?? (isUnlisted ? 1 : MAX_COUNT);
  if (Number.isInteger(count) && count >= 1 && count <= most) return [];
  return [{ field: 'count', message: most === 1 ? 'must be 1' : `must be from 1 to ${most}` }];
}

/** A text that is blank. */
export function blankProblems(field: string, text: string): readonly Problem[] {
  return text.trim() === '' ? [{ field, message: 'must not be empty' }] : [];
}

/** A text that is longer than the model takes. */
export function lengthProblems(
  field: string,
  text: string,
  limit: number | null | undefined,
): readonly Problem[] {
  const longest = limit ?? MAX_PROMPT;
  if (text.length <= longest) return [];
  return [{ field, message: `must be at most ${longest} characters, this one has ${text.length}` }];
}

/** Whether a text is W:H with integers from 1 to 64. */
export function isAspectRatio(text: string): boolean {
  const [, width, height] = /^(\d{1,2}):(\d{1,2})$/.exec(text) ?? [];
  return [width, height].every((side) => Number(side) >= 1 && Number(side) <= 64);
}

/** An aspect ratio that is malformed, or that the model does not make. */
export function ratioProblems(
  aspectRatio: string | undefined,
  accepted?: readonly string[] | null,
): readonly Problem[] {
  if (aspectRatio === undefined) return [];
  if (isAspectRatio(aspectRatio)) return choiceProblems('aspectRatio', aspectRatio, accepted);
  return [{ field: 'aspectRatio', message: 'must be W:H with whole numbers from 1 to 64, such as 16:9' }];
}

/** A value that is not among the accepted ones. Case does not matter: 1080P and 1080p mean the same. */
export function choiceProblems(
  field: string,
  value: string | number | undefined,
  accepted: readonly (string | number)[] | null | undefined,
): readonly Problem[] {
  if (value === undefined || accepted === null || accepted === undefined) return [];
  const same = (other: string | number) => String(other).toLowerCase() === String(value).toLowerCase();
  if (accepted.some(same)) return [];
  const choice = accepted.length === 1 ? String(accepted[0]) : `one of ${accepted.join(', ')}`;
  return [{ field, message: `must be ${choice}` }];
}

/** A word as the model's own list spells it: the limits do not look at case, some upstreams do. */
export function modelSpelling<Value extends string | undefined>(
  accepted: readonly string[] | null | undefined,
  value: Value,
): string | Value {
  return accepted?.find((word) => word.toLowerCase() === value?.toLowerCase()) ?? value;
}

/** A number beyond what the model takes. */
export function rangeProblems(field: string, value: number | undefined, limits: Limits): readonly Problem[] {
  const [least, most] = limits?.ranges[field] ?? [-Infinity, Infinity];
  if (value === undefined || (value >= least && value <= most)) return [];
  return [{ field, message: `must be from ${least} to ${most}` }];
}

/** An input that the model does not take. */
export function unsupportedProblems(field: string, isSent: boolean, limits: Limits): readonly Problem[] {
  return !isSent || limits === undefined || limits.inputs.includes(field)
    ? []
    : [{ field, message: NOT_TAKEN }];
}

/** A size that the model does not name, or any where it names none. */
export function sizeProblems(resolution: string | undefined, limits: Limits): readonly Problem[] {
  return [
    ...unsupportedProblems('resolution', resolution !== undefined, limits),
    ...choiceProblems('resolution', resolution, limits?.sizes),
  ];
}

/** Inputs of which not exactly one is there. */
export function exactlyOneProblem(inputs: Readonly<Record<string, unknown>>): readonly Problem[] {
  const names = Object.keys(inputs);
  const sent = names.filter((name) => inputs[name] !== undefined);
  if (sent.length === 1) return [];
  const field = sent.at(-1) ?? names[0] ?? '';
  return [{ field, message: `exactly one of ${names.join(' and ')} is needed` }];
}

/** Refuses inputs of which not exactly one was sent; the field at fault is the first. An empty text is none. */
export function exactlyOne(inputs: Readonly<Record<string, unknown>>): void {
  const [first = '', ...others] = Object.keys(inputs);
  const sent = Object.values(inputs).filter((value) => value !== undefined && value !== '');
  if (sent.length === 1) return;
  throw badInput(first, `${first} or ${others.join(' or ')}: exactly one of them is needed`);
}

/** Refuses work whose texts of these names are blank; answers the work. */
export function notEmpty<Name extends string, Work extends Readonly<Record<Name, string>>>(
  work: Work,
  ...names: readonly Name[]
): Work {
  for (const name of names) {
    if (work[name].trim() === '') throw badInput(name, `${name} must not be empty`);
  }
  return work;
}
