import type { Problem } from '../../../../platform/errors.ts';
import {
  countProblems,
  notTaken,
  oneOf,
  promptProblems,
  ratioProblems,
  wanted,
  type Limits,
} from '../../domain/inputs/checks.ts';
import type { StepInput } from '../../domain/task.ts';

/** What is wrong with work that has people in it, field by field. Pure. */

type StepOf<Kind extends StepInput['kind']> = Extract<StepInput, { kind: Kind }>;

/** Longest name of a character. */
const MAX_NAME = 100;
const MAX_IMAGES = 100;
/** Longest id of an upstream. */
const MAX_ID = 200;

/** Problems of a talking video: who talks, and what is said. */
export function lipSyncProblems(work: StepOf<'LIP_SYNC'>, limits: Limits): readonly Problem[] {
  const { image, video, audio, text, voiceId } = work;
  return [
    ...exactlyOne({ image, video }),
    ...exactlyOne({ audio, text }),
    ...notTaken('image', image !== undefined, limits),
    ...notTaken('video', video !== undefined, limits),
    ...notTaken('audio', audio !== undefined, limits),
    ...notTaken('text', text !== undefined, limits),
    ...(text === undefined ? [] : wanted('text', text)),
    ...promptProblems('text', text ?? '', limits?.maxPrompt),
    ...(voiceId !== undefined && text === undefined
      ? [{ field: 'voiceId', message: 'is for a text: an audio brings its own voice' }]
      : []),
    ...promptProblems('prompt', work.prompt ?? '', limits?.maxPrompt),
    ...ratioProblems(work.aspectRatio, limits?.aspectRatios),
    ...oneOf('resolution', work.resolution, limits?.sizes),
  ];
}

/** Problems of a character: its name and its pictures. */
export function characterProblems(work: StepOf<'CHARACTER'>, limits: Limits): readonly Problem[] {
  const most = limits?.maxImages ?? MAX_IMAGES;
  const { length } = work.images;
  return [
    ...wanted('name', work.name),
    ...promptProblems('name', work.name, MAX_NAME),
    ...(length >= 1 && length <= most
      ? []
      : [{ field: 'images', message: `must be from 1 to ${most} files` }]),
  ];
}

/** Problems of a picture of a character. */
export function characterImageProblems(work: StepOf<'CHARACTER_IMAGE'>, limits: Limits): readonly Problem[] {
  return [
    ...wanted('prompt', work.prompt),
    ...promptProblems('prompt', work.prompt, limits?.maxPrompt),
    ...ratioProblems(work.aspectRatio, limits?.aspectRatios),
    ...oneOf('resolution', work.resolution, limits?.sizes),
    ...countProblems(work.count, limits),
  ];
}

/** Problems of somebody in a picture who says what is heard. */
export function humanVideoProblems(work: StepOf<'HUMAN_VIDEO'>, limits: Limits): readonly Problem[] {
  return [
    ...notTaken('prompt', work.prompt !== undefined, limits),
    ...promptProblems('prompt', work.prompt ?? '', limits?.maxPrompt),
    ...sizeProblems(work.resolution, limits),
  ];
}

/** Problems of an avatar to be made. */
export function avatarProblems(work: StepOf<'AVATAR'>): readonly Problem[] {
  return [
    ...wanted('videoId', work.videoId),
    ...promptProblems('videoId', work.videoId, MAX_ID),
    ...promptProblems('name', work.name ?? '', MAX_NAME),
  ];
}

/** Problems of an avatar that speaks: a text is spoken by another generator, whose own limits come on top. */
export function avatarVideoProblems(work: StepOf<'AVATAR_VIDEO'>, limits: Limits): readonly Problem[] {
  return [
    ...wanted('digitalId', work.digitalId),
    ...promptProblems('digitalId', work.digitalId, MAX_ID),
    ...promptProblems('text', work.text ?? '', limits?.maxPrompt),
    ...sizeProblems(work.resolution, limits),
  ];
}

/** A size that the model does not name, or any where it names none. */
function sizeProblems(resolution: string | undefined, limits: Limits): readonly Problem[] {
  return [
    ...notTaken('resolution', resolution !== undefined, limits),
    ...oneOf('resolution', resolution, limits?.sizes),
  ];
}

function exactlyOne(fields: Readonly<Record<string, unknown>>): readonly Problem[] {
  const names = Object.keys(fields);
  const given = names.filter((name) => fields[name] !== undefined);
  if (given.length === 1) return [];
  const field = given.at(-1) ?? names[0] ?? '';
  return [{ field, message: `exactly one of ${names.join(' and ')} is needed` }];
}
