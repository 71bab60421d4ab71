import type { MediaInput, VideoRequest } from './submissions.ts';

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

export interface CharacterRequest {
  readonly name: string;
  readonly images: readonly MediaInput[];
}

export interface CharacterImageRequest {
  readonly characterId?: string | null | undefined;
  readonly model?: string | null | undefined;
  readonly prompt: string;
  readonly aspectRatio?: string | null | undefined;
  readonly resolution?: string | null | undefined;
  readonly count?: number | null | undefined;
  readonly seed?: number | null | undefined;
}

export interface DetectionRequest {
  readonly image: MediaInput;
}

export interface HumanVideoRequest {
  readonly image: MediaInput;
  readonly audio: MediaInput;
  readonly prompt?: string | null | undefined;
  readonly resolution?: string | null | undefined;
}

export interface AvatarSourceRequest {
  /** An MP4 video. */
  readonly source: MediaInput;
}

export interface AvatarRequest {
  readonly videoId: string;
  readonly name?: string | null | undefined;
}

export interface AvatarVideoRequest {
  readonly digitalId: string;
  /** One of audio and text. */
  readonly audio?: MediaInput | null | undefined;
  readonly text?: string | null | undefined;
  /** Who says the text; the generator's first voice when absent. */
  readonly voiceId?: string | null | undefined;
  readonly resolution?: string | null | undefined;
}
