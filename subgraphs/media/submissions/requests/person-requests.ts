import type { MediaInput, VideoRequest } from '../submissions.ts';

/** What callers ask for where there are people in it, and for videos between two frames. */

/** Who does the work when the caller names no generator: the one that the documents have for it. */
export const DEFAULT_GENERATORS = {
  frameVideo: 'custom/frame',
  lipSync: 'agg/lipsync',
  character: 'custom/charv',
  humanVideo: 'cloud/humanvid',
  avatar: 'cloud/digital',
} as const;

/** A video with both frames; at the default generator unless one is named. */
export interface FrameVideoRequest extends Omit<VideoRequest, 'generator'> {
  readonly generator?: string | null | undefined;
}

/** Somebody in a picture or a video shall say something. */
export interface LipSyncRequest {
  readonly generator: string;
  readonly model?: string | null | undefined;
  /** One of image and video; a video that is given as image counts as video. */
  readonly image?: MediaInput | null | undefined;
  readonly video?: MediaInput | null | undefined;
  /** One of audio and text. */
  readonly audio?: MediaInput | null | undefined;
  readonly text?: string | null | undefined;
  /** Who says the text. */
  readonly voiceId?: string | null | undefined;
  readonly prompt?: string | null | undefined;
  readonly aspectRatio?: string | null | undefined;
  readonly resolution?: string | null | undefined;
}

/** A person is to be learned from pictures. */
export interface CharacterRequest {
  readonly name: string;
  readonly images: readonly MediaInput[];
}

/** A picture of a person who was learned. */
export interface CharacterImageRequest {
  readonly characterId?: string | null | undefined;
  readonly model?: string | null | undefined;
  readonly prompt: string;
  readonly aspectRatio?: string | null | undefined;
  readonly resolution?: string | null | undefined;
  readonly count?: number | null | undefined;
  readonly seed?: number | null | undefined;
}

/** Whether there is a person in a picture. */
export interface DetectionRequest {
  readonly image: MediaInput;
}

/** A person in a picture shall speak with a sound. */
export interface HumanVideoRequest {
  readonly image: MediaInput;
  readonly audio: MediaInput;
  readonly prompt?: string | null | undefined;
  readonly resolution?: string | null | undefined;
}

/** A video that an avatar can be made from. */
export interface AvatarSourceRequest {
  /** An MP4 video. */
  readonly source: MediaInput;
}

/** An avatar of whom a source shows. */
export interface AvatarRequest {
  readonly videoId: string;
  readonly name?: string | null | undefined;
}

/** An avatar shall say something. */
export interface AvatarVideoRequest {
  readonly digitalId: string;
  /** One of audio and text. */
  readonly audio?: MediaInput | null | undefined;
  readonly text?: string | null | undefined;
  /** Who says the text; the generator's first voice when absent. */
  readonly voiceId?: string | null | undefined;
  readonly resolution?: string | null | undefined;
}
