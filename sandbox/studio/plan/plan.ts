import { z } from 'zod';

import type { PresenterPlan } from '../presenter/presenter.ts';
import { StudioError } from '../types/media-types.ts';
import type { PresenterRequest, SpeechRequest, VideoRequest } from '../types/media-types.ts';
import { MOST_LINES, sizeByShortEdge, sizeFor } from '../types/size.ts';
import type { Size } from '../types/size.ts';
import { MOST_REFERENCES, type ImageRequest } from '../types/studio.ts';
import { frameRatio } from '../video/camera.ts';
import type { VideoPlan } from '../video/video.ts';

/** The size of the studio's media. */
export type StudioSize = 'normal' | 'small';

const LONG_EDGE = { normal: 1_024, small: 512 } as const;
const FRAMES_PER_SECOND = { normal: 25, small: 12 } as const;
const LARGEST_SHORT_EDGE = { normal: MOST_LINES, small: 360 } as const;
const MAX_EDGE = 4_096;
const MAX_CHARACTERS = 10_000;

const exactSize = z.object({
  width: z.number().int().min(8).max(MAX_EDGE),
  height: z.number().int().min(8).max(MAX_EDGE),
});
const videoLimits = z.object({
  durationSeconds: z.number().min(1).max(30).default(5),
  resolution: z.number().int().min(144).max(MOST_LINES).default(720),
  seed: z.number().int().optional(),
});
const presenterLimits = z
  .object({
    image: z.unknown().optional(),
    video: z.unknown().optional(),
    audio: z.unknown().optional(),
    text: z.string().max(MAX_CHARACTERS).optional(),
    resolution: z.number().int().min(144).max(MOST_LINES).default(720),
    seed: z.number().int().optional(),
  })
  .refine(({ audio, text }) => (audio === undefined) !== (text === undefined), {
    path: ['audio'],
    message: 'exactly one of audio and text is needed',
  })
  .refine(({ image, video }) => image === undefined || video === undefined, {
    path: ['video'],
    message: 'an image and a video cannot both be given',
  });
const speechLimits = z.object({
  text: z.string().max(MAX_CHARACTERS),
  speed: z.number().min(0.25).max(4).optional(),
  pitch: z.number().min(-12).max(12).optional(),
});

/** The size of an image. Throws OUT_OF_RANGE when it is too large. */
export function planImage(request: ImageRequest, size: StudioSize): Size {
  if ((request.references?.length ?? 0) > MOST_REFERENCES) {
    throw new RangeError(`at most ${MOST_REFERENCES} images can be blended in`);
  }
  return request.size === undefined
    ? sizeFor(request.aspectRatio, LONG_EDGE[size])
    : exactSize.parse(request.size);
}

/** Throws OUT_OF_RANGE when a video would be too long or too large. */
export function checkVideo(request: VideoRequest): void {
  within(videoLimits, request);
}

/** Plans the size and duration of a video; without an aspect ratio the frame's is used. Throws OUT_OF_RANGE and UNREADABLE_MEDIA. */
export async function planVideo(request: VideoRequest, size: StudioSize): Promise<VideoPlan> {
  const { durationSeconds, resolution } = within(videoLimits, request);
  const framesPerSecond = FRAMES_PER_SECOND[size];
  const frame = request.firstFrame ?? request.lastFrame;
  const ratio = request.aspectRatio ?? (frame === undefined ? '16:9' : await frameRatio(frame));
  return {
    request,
    size: sizeByShortEdge(ratio, Math.min(resolution, LARGEST_SHORT_EDGE[size])),
    framesPerSecond,
    frames: Math.round(durationSeconds * framesPerSecond),
  };
}

/** Validates a talking video: its size, and exactly one speaker and one voice. Throws OUT_OF_RANGE. */
export function checkPresenter(request: PresenterRequest): void {
  within(presenterLimits, request);
}

/** Plans the size of a talking video; without an aspect ratio the image's is used. Throws OUT_OF_RANGE and UNREADABLE_MEDIA. */
export async function planPresenter(request: PresenterRequest, size: StudioSize): Promise<PresenterPlan> {
  const { resolution } = within(presenterLimits, request);
  const { aspectRatio, image } = request;
  const ratio = aspectRatio ?? (image === undefined ? '9:16' : await frameRatio(image));
  return {
    request,
    size: sizeByShortEdge(ratio, Math.min(resolution, LARGEST_SHORT_EDGE[size])),
    framesPerSecond: FRAMES_PER_SECOND[size],
  };
}

/** Throws OUT_OF_RANGE when a text is too long or a value is out of its range. */
export function checkSpeech(request: SpeechRequest): void {
  within(speechLimits, request);
}

function within<Limits extends z.ZodType>(limits: Limits, request: object): z.output<Limits> {
  const checked = limits.safeParse(request);
  if (checked.success) return checked.data;
  const [issue] = checked.error.issues;
  throw new StudioError('OUT_OF_RANGE', `${issue?.path.join('.') ?? 'request'}: ${issue?.message ?? ''}`);
}
