import type { Problem } from '../../../../platform/errors.ts';
import {
  countProblems,
  inRange,
  MAX_PROMPT,
  notTaken,
  oneOf,
  promptProblems,
  ratioProblems,
  wanted,
  type Limits,
} from '../../domain/inputs/checks.ts';
import type { StepInput } from '../../domain/task.ts';
import {
  avatarProblems,
  avatarVideoProblems,
  characterImageProblems,
  characterProblems,
  humanVideoProblems,
  lipSyncProblems,
} from './person-problems.ts';

/** What is wrong with a piece of work for one model, field by field. Pure. */

const MAX_IMAGES = 10;

type StepOf<Kind extends StepInput['kind']> = Extract<StepInput, { kind: Kind }>;

/** Every problem; none means that the model takes the work. Without a model only what holds for all is asked. */
export function problemsOf(work: StepInput, limits: Limits): readonly Problem[] {
  return [...problemsOfKind(work, limits), ...longTexts(work, limits)];
}

function problemsOfKind(work: StepInput, limits: Limits): readonly Problem[] {
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
    case 'LIP_SYNC':
      return lipSyncProblems(work, limits);
    case 'CHARACTER':
      return characterProblems(work, limits);
    case 'CHARACTER_IMAGE':
      return characterImageProblems(work, limits);
    case 'HUMAN_VIDEO':
      return humanVideoProblems(work, limits);
    case 'AVATAR':
      return avatarProblems(work);
    case 'AVATAR_VIDEO':
      return avatarVideoProblems(work, limits);
    // Pictures to be described, and graphs: whoever takes them knows.
    default:
      return [];
  }
}

/** Texts with a limit of their own; names and ids, whose own limits are short, may be refused twice. */
const LIMITED = new Set(['prompt', 'text']);

/** Every other text is bounded as a prompt is at least: each is kept with its task and sent on. */
function longTexts(work: StepInput, limits: Limits): readonly Problem[] {
  const longest = Math.max(MAX_PROMPT, limits?.maxPrompt ?? 0);
  return Object.entries(work).flatMap(([field, value]: [string, unknown]) =>
    typeof value === 'string' && !LIMITED.has(field) ? promptProblems(field, value, longest) : [],
  );
}

function imageProblems(work: StepOf<'IMAGE'>, limits: Limits): readonly Problem[] {
  const images = work.images?.length ?? 0;
  const maxImages = limits?.maxImages ?? MAX_IMAGES;
  return [
    ...wanted('prompt', work.prompt),
    ...promptProblems('prompt', work.prompt, limits?.maxPrompt),
    ...ratioProblems(work.aspectRatio, limits?.aspectRatios),
    ...oneOf('resolution', work.resolution, limits?.sizes),
    ...countProblems(work.count, limits),
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
