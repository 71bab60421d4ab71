import { exactlyOne, notEmpty, lengthProblems, sizeProblems, blankProblems } from '../inputs/checks.ts';
import type { InputRef } from '../inputs/input-files.ts';
import { LONG_SECONDS, VIDEO_FILE, type AtGenerator, type RulesOf } from './kind.ts';

/** The avatar's three tasks: its video to the cloud, the avatar itself, and what it says. */

/** A video handed to the avatar's cloud. */
export interface AvatarSourceWork<File = InputRef> extends AtGenerator {
  readonly kind: 'AVATAR_SOURCE';
  /** MP4 by its content. */
  readonly video: File;
}

/** An avatar to be made. */
export interface AvatarWork extends AtGenerator {
  readonly kind: 'AVATAR';
  /** What an AVATAR_SOURCE task answered. */
  readonly videoId: string;
  readonly name?: string;
}

/** An avatar that speaks: to a sound, or to a text that is spoken first, as a step of its own. */
export interface AvatarVideoWork<File = InputRef> extends AtGenerator {
  readonly kind: 'AVATAR_VIDEO';
  /** What an AVATAR task answered. */
  readonly digitalId: string;
  /** One of audio and text. */
  readonly audio?: File;
  readonly text?: string;
  /** The voice of the text: one of the generator of speech. */
  readonly voiceId?: string;
  readonly resolution?: string;
}

const GENERATOR = 'cloud/digital';
const MAX_NAME = 100;
/** Longest id of an upstream. */
const MAX_ID = 200;
/** A cloned avatar is trained for three to six hours. */
const TRAINING_SECONDS = 8 * 3_600;

/** What holds for them. */
export const avatarKinds = {
  AVATAR_SOURCE: {
    description: 'A video uploaded for an avatar.',
    mutation: 'uploadAvatarSource',
    generator: GENERATOR,
    category: 'avatar',
    files: { video: { kind: 'mp4', field: 'source' } },
    result: { ...VIDEO_FILE, name: 'source', needsFile: false },
    timeoutSeconds: LONG_SECONDS,
  },
  AVATAR: {
    description: 'An avatar made from such a video.',
    mutation: 'createAvatar',
    generator: GENERATOR,
    category: 'avatar',
    files: {},
    result: { name: 'avatar', types: ['image/', 'video/'], label: 'media', needsFile: false },
    timeoutSeconds: TRAINING_SECONDS,
    normalize: (work) => notEmpty(work, 'videoId'),
    problems: ({ videoId, name = '' }) => [
      ...blankProblems('videoId', videoId),
      ...lengthProblems('videoId', videoId, MAX_ID),
      ...lengthProblems('name', name, MAX_NAME),
    ],
  },
  AVATAR_VIDEO: {
    description: 'A video of an avatar that speaks.',
    mutation: 'generateAvatarVideo',
    generator: GENERATOR,
    category: 'avatar',
    files: { audio: { kind: 'audio' } },
    namesFiles: true,
    result: VIDEO_FILE,
    timeoutSeconds: LONG_SECONDS,
    normalize: checkedAvatarVideo,
    problems: ({ digitalId, text = '', resolution }, limits) => [
      ...blankProblems('digitalId', digitalId),
      ...lengthProblems('digitalId', digitalId, MAX_ID),
      // A text is spoken by another generator, whose own limits come on top.
      ...lengthProblems('text', text, limits?.maxPrompt),
      ...sizeProblems(resolution, limits),
    ],
  },
} as const satisfies RulesOf<AvatarSourceWork | AvatarWork | AvatarVideoWork>;

/** A sound needs no text and no voice. */
function checkedAvatarVideo(work: AvatarVideoWork): AvatarVideoWork {
  const { text, voiceId: _, ...rest } = notEmpty(work, 'digitalId');
  exactlyOne({ audio: work.audio, text: (text ?? '').trim() });
  return work.audio === undefined ? work : rest;
}
