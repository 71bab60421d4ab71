import type { Problem } from '../../../../platform/errors.ts';
import type { ModelLimits } from '../../generators/bindings/binding.ts';

/** What may be wrong with one field, for the rules of every kind of work. Pure. */

/** Upper bound where the catalog names none: what one row and one upstream request may sensibly carry. */
export const MAX_PROMPT = 20_000;
const MAX_COUNT = 10;

/** The limits of a model; undefined where none is known. */
export type Limits = ModelLimits | undefined;

/** A number of results that is none, or more than the model makes. */
export function countProblems(count: number | undefined, limits: Limits): readonly Problem[] {
  const most = limits?.maxCount ?? MAX_COUNT;
  if (count === undefined || (Number.isInteger(count) && count >= 1 && count <= most)) return [];
  return [{ field: 'count', message: most === 1 ? 'must be 1' : `must be from 1 to ${most}` }];
}

/** A text that says nothing. */
export function wanted(field: string, text: string): readonly Problem[] {
  return text.trim() === '' ? [{ field, message: 'must not be empty' }] : [];
}

/** A text that is longer than the model takes. */
export function promptProblems(
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

/** An aspect ratio that is none, or none that the model makes. */
export function ratioProblems(
  aspectRatio: string | undefined,
  accepted?: readonly string[] | null,
): readonly Problem[] {
  if (aspectRatio === undefined) return [];
  if (isAspectRatio(aspectRatio)) return oneOf('aspectRatio', aspectRatio, accepted);
  return [{ field: 'aspectRatio', message: 'must be W:H with whole numbers from 1 to 64, such as 16:9' }];
}

/** Words are compared without regard to case: 1080P and 1080p mean the same. */
export function oneOf(
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
export function spelledAs(
  accepted: readonly string[] | null | undefined,
  value: string | null,
): string | null {
  return accepted?.find((word) => word.toLowerCase() === value?.toLowerCase()) ?? value;
}

/** A number beyond what the model takes. */
export function inRange(field: string, value: number | undefined, limits: Limits): readonly Problem[] {
  const [least, most] = limits?.ranges[field] ?? [-Infinity, Infinity];
  if (value === undefined || (value >= least && value <= most)) return [];
  return [{ field, message: `must be from ${least} to ${most}` }];
}

/** Something that the model leaves aside. */
export function notTaken(field: string, given: boolean, limits: Limits): readonly Problem[] {
  return !given || limits === undefined || limits.inputs.includes(field)
    ? []
    : [{ field, message: 'is not taken by this model' }];
}
