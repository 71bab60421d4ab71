import { badInput } from '../../../../platform/errors.ts';
import {
  exactlyOne,
  unsupportedProblems,
  choiceProblems,
  lengthProblems,
  ratioProblems,
  blankProblems,
  type Limits,
} from '../inputs/checks.ts';
import type { InputRef } from '../inputs/input-files.ts';
import { LONG_SECONDS, VIDEO_FILE, type AtGenerator, type RulesOf } from './kind.ts';

/** Videos from words, from an image that starts to move, or between a first and a last frame. */

interface VideoInputs<File> extends AtGenerator {
  readonly prompt?: string;
  readonly negativePrompt?: string;
  /** Reference image; most wires take it as the first frame. */
  readonly image?: File;
  readonly firstFrame?: File;
  readonly lastFrame?: File;
  /** Images of what is to appear in it; it begins with none of them. */
  readonly references?: readonly File[];
  readonly aspectRatio?: string;
  readonly resolution?: string;
  /** Seconds. */
  readonly duration?: number;
  readonly seed?: number;
  /** Whether it has sound. */
  readonly generateAudio?: boolean;
}

/** A video from words or images. */
export interface VideoWork<File = InputRef> extends VideoInputs<File> {
  readonly kind: 'VIDEO';
}

/** A video that begins with one image and ends with another. */
export interface FrameVideoWork<File = InputRef> extends VideoInputs<File> {
  readonly kind: 'FRAME_VIDEO';
}

const common = {
  category: 'video',
  files: {
    image: { kind: 'image' },
    firstFrame: { kind: 'image' },
    lastFrame: { kind: 'image' },
    references: { kind: 'image', holds: 'list' },
  },
  namesFiles: true,
  result: VIDEO_FILE,
  timeoutSeconds: LONG_SECONDS,
} as const;

/** What holds for them. */
export const videoKinds = {
  VIDEO: {
    ...common,
    description: 'A video.',
    mutation: 'generateVideo',
    weight: 6,
    normalize: checkedVideo,
    problems: videoProblems,
  },
  FRAME_VIDEO: {
    ...common,
    description: 'A video from a first frame to a last.',
    mutation: 'generateFrameVideo',
    generator: 'custom/frame',
    normalize: checkedFrameVideo,
    problems: (work, limits) => [...framesProblems(work), ...videoProblems(work, limits)],
  },
} as const satisfies RulesOf<VideoWork | FrameVideoWork>;

function checkedVideo({ references = [], ...sent }: VideoWork): VideoWork {
  const work = references.length === 0 ? sent : { ...sent, references };
  if (work.image !== undefined && work.firstFrame !== undefined) {
    throw badInput('firstFrame', 'firstFrame and image are the same thing here: give only one of them');
  }
  if ((work.prompt ?? '').trim() === '' && work.image === undefined && work.firstFrame === undefined) {
    throw badInput('prompt', 'a video needs a prompt, an image or a firstFrame');
  }
  return work;
}

function checkedFrameVideo({ image, references = [], ...work }: FrameVideoWork): FrameVideoWork {
  if (references.length > 0) {
    throw badInput('references', 'references are for videos that begin with no image');
  }
  exactlyOne({ firstFrame: work.firstFrame, image });
  if (work.lastFrame === undefined) {
    throw badInput('lastFrame', 'lastFrame is needed: the video ends with it');
  }
  return image === undefined ? work : { ...work, firstFrame: image };
}

function framesProblems(work: FrameVideoWork) {
  const first = work.firstFrame ?? work.image;
  return [
    ...(first === undefined ? [{ field: 'firstFrame', message: 'is needed' }] : []),
    ...(work.lastFrame === undefined ? [{ field: 'lastFrame', message: 'is needed' }] : []),
  ];
}

function videoProblems(work: VideoInputs<unknown>, limits: Limits) {
  const first = work.firstFrame ?? work.image;
  const firstName = work.firstFrame === undefined ? 'image' : 'firstFrame';
  const isShaped = first !== undefined && limits?.imageDecidesShape !== false;
  const needsPrompt = first === undefined || (limits?.needs.includes('prompt') ?? false);
  const needsFrame =
    limits !== undefined && ['image', 'firstFrame'].some((name) => limits.needs.includes(name));
  return [
    ...referenceProblems(work, limits),
    ...(needsPrompt ? blankProblems('prompt', work.prompt ?? '') : []),
    ...lengthProblems('prompt', work.prompt ?? '', limits?.maxPrompt),
    ...(needsFrame && first === undefined ? [{ field: 'image', message: 'is needed' }] : []),
    ...unsupportedProblems(firstName, first !== undefined, limits),
    ...unsupportedProblems('lastFrame', work.lastFrame !== undefined, limits),
    ...(work.lastFrame !== undefined && first === undefined
      ? [{ field: 'lastFrame', message: 'needs firstFrame too, what the video begins with' }]
      : []),
    // A video that begins with an image has the image's shape.
    ...ratioProblems(work.aspectRatio, isShaped ? null : limits?.aspectRatios),
    ...choiceProblems('resolution', work.resolution, limits?.sizes),
    ...lastFrameSizeProblems(work, limits),
    ...choiceProblems('duration', work.duration, limits?.durations),
    ...(work.duration !== undefined && !(work.duration > 0 && work.duration <= 600)
      ? [{ field: 'duration', message: 'must be more than 0 and at most 600 seconds' }]
      : []),
  ];
}

/** Most reference images where the model names no number. */
const MAX_REFERENCES = 4;

function referenceProblems(
  { references = [], firstFrame, image, lastFrame }: VideoInputs<unknown>,
  limits: Limits,
) {
  if (references.length === 0) return [];
  const most = limits?.maxImages ?? MAX_REFERENCES;
  const isFramed = (firstFrame ?? image ?? lastFrame) !== undefined;
  return [
    ...unsupportedProblems('references', true, limits),
    ...(references.length > most ? [{ field: 'references', message: `must be at most ${most} files` }] : []),
    ...(isFramed ? [{ field: 'references', message: 'can not be sent with a first or last frame' }] : []),
  ];
}

/** A size that the model makes, but not of videos with a last frame. */
function lastFrameSizeProblems({ resolution, lastFrame }: VideoInputs<unknown>, limits: Limits) {
  if (lastFrame === undefined || limits?.lastFrameSizes === undefined) return [];
  const problems = choiceProblems('resolution', resolution, limits.lastFrameSizes);
  return problems.map(({ field, message }) => ({
    field,
    message: `${message} for a video with a last frame`,
  }));
}
