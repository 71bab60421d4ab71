import type { Problem } from '../../../platform/errors.ts';
import type { StepInput } from '../tasks/task.ts';
import type { ModelLimits } from './binding.ts';

/** What is wrong with a piece of work for one model, field by field. Pure. */

const MAX_COUNT = 10;
const MAX_IMAGES = 10;
/** Upper bound where the catalog names none: what one row and one upstream request may sensibly carry. */
const MAX_PROMPT = 20_000;

type Limits = ModelLimits | undefined;
type StepOf<Kind extends StepInput['kind']> = Extract<StepInput, { kind: Kind }>;

/** Every problem; none means that the model takes the work. Without a model only what holds for all is asked. */
export function problemsOf(work: StepInput, limits: Limits): readonly Problem[] {
  switch (work.kind) {
    case 'IMAGE':
      return imageProblems(work, limits);
    case 'VIDEO':
      return videoProblems(work, limits);
    case 'FRAME_VIDEO':
      return [...framesProblems(work), ...videoProblems(work, limits)];
    case 'SPEECH':
      return speechProblems(work, limits);
    case 'VOICE_CLONE':
      return promptProblems('text', work.text ?? '', limits?.maxPrompt);
    case 'ANALYSIS':
      return [...wanted('prompt', work.prompt), ...promptProblems('prompt', work.prompt, limits?.maxPrompt)];
    // Pictures to be described, and graphs: whoever takes them knows.
    default:
      return [];
  }
}

function imageProblems(work: StepOf<'IMAGE'>, limits: Limits): readonly Problem[] {
  const count = work.count ?? 1;
  const images = work.images?.length ?? 0;
  const maxCount = limits?.maxCount ?? MAX_COUNT;
  const maxImages = limits?.maxImages ?? MAX_IMAGES;
  return [
    ...wanted('prompt', work.prompt),
    ...promptProblems('prompt', work.prompt, limits?.maxPrompt),
    ...ratioProblems(work.aspectRatio, limits?.aspectRatios),
    ...oneOf('resolution', work.resolution, limits?.sizes),
    ...(Number.isInteger(count) && count >= 1 && count <= maxCount
      ? []
      : [{ field: 'count', message: maxCount === 1 ? 'must be 1' : `must be from 1 to ${maxCount}` }]),
    ...(images <= maxImages ? [] : [{ field: 'images', message: `must be at most ${maxImages} files` }]),
    ...notTaken('images', images > 0, limits),
  ];
}

/** A video between two frames has both. */
function framesProblems(work: StepOf<'FRAME_VIDEO'>): readonly Problem[] {
  const first = work.firstFrame ?? work.image;
  return [
    ...(first === undefined ? [{ field: 'firstFrame', message: 'is needed' }] : []),
    ...(work.lastFrame === undefined ? [{ field: 'lastFrame', message: 'is needed' }] : []),
  ];
}

function videoProblems(work: StepOf<'VIDEO' | 'FRAME_VIDEO'>, limits: Limits): readonly Problem[] {
  const first = work.firstFrame ?? work.image;
  const firstName = work.firstFrame === undefined ? 'image' : 'firstFrame';
  const needsPrompt = first === undefined || (limits?.needs.includes('prompt') ?? false);
  const needsFrame =
    limits !== undefined && ['image', 'firstFrame'].some((name) => limits.needs.includes(name));
  return [
    ...(needsPrompt ? wanted('prompt', work.prompt ?? '') : []),
    ...promptProblems('prompt', work.prompt ?? '', limits?.maxPrompt),
    ...(needsFrame && first === undefined ? [{ field: 'image', message: 'is needed' }] : []),
    ...notTaken(firstName, first !== undefined, limits),
    ...notTaken('lastFrame', work.lastFrame !== undefined, limits),
    ...(work.lastFrame !== undefined && first === undefined
      ? [{ field: 'lastFrame', message: 'needs a first frame (image or firstFrame) too' }]
      : []),
    // A video that begins with a picture has the picture's shape.
    ...ratioProblems(work.aspectRatio, first === undefined ? limits?.aspectRatios : null),
    ...oneOf('resolution', work.resolution, limits?.sizes),
    ...oneOf('duration', work.duration, limits?.durations),
    ...(work.duration !== undefined && !(work.duration > 0 && work.duration <= 600)
      ? [{ field: 'duration', message: 'must be more than 0 and at most 600 seconds' }]
      : []),
  ];
}

function speechProblems(work: StepOf<'SPEECH'>, limits: Limits): readonly Problem[] {
  return [
    ...wanted('text', work.text),
    ...promptProblems('text', work.text, limits?.maxPrompt),
    ...wanted('voiceId', work.voiceId),
    ...oneOf('format', work.format, limits?.formats),
    ...(['speed', 'pitch', 'volume'] as const).flatMap((field) => inRange(field, work[field], limits)),
  ];
}

function wanted(field: string, text: string): readonly Problem[] {
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
function oneOf(
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

function inRange(field: string, value: number | undefined, limits: Limits): readonly Problem[] {
  const [least, most] = limits?.ranges[field] ?? [-Infinity, Infinity];
  if (value === undefined || (value >= least && value <= most)) return [];
  return [{ field, message: `must be from ${least} to ${most}` }];
}

function notTaken(field: string, given: boolean, limits: Limits): readonly Problem[] {
  return !given || limits === undefined || limits.inputs.includes(field)
    ? []
    : [{ field, message: 'is not taken by this model' }];
}
