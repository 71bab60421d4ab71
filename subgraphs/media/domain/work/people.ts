import {
  exactlyOne,
  exactlyOneProblem,
  unsupportedProblems,
  choiceProblems,
  lengthProblems,
  ratioProblems,
  sizeProblems,
  blankProblems,
  type Limits,
} from '../inputs/checks.ts';
import type { InputRef } from '../inputs/input-files.ts';
import { IMAGES, LONG_SECONDS, USUAL_SECONDS, VIDEO_FILE, type AtGenerator, type RulesOf } from './kind.ts';

/** People who speak in videos, and whether there are people in an image. */

/** A face that says something: an image or a video, and a sound or a text. */
export interface LipSyncWork<File = InputRef> extends AtGenerator {
  readonly kind: 'LIP_SYNC';
  /** One of image and video. */
  readonly image?: File;
  readonly video?: File;
  /** One of audio and text. */
  readonly audio?: File;
  readonly text?: string;
  /** The voice of the text; the provider's own default when absent. */
  readonly voiceId?: string;
  /** How it shall move. */
  readonly prompt?: string;
  readonly aspectRatio?: string;
  readonly resolution?: string;
}

/** Whether there is a person in an image. */
export interface PersonDetectionWork<File = InputRef> extends AtGenerator {
  readonly kind: 'PERSON_DETECTION';
  readonly image: File;
}

/** A person of an image who says what is heard. */
export interface HumanVideoWork<File = InputRef> extends AtGenerator {
  readonly kind: 'HUMAN_VIDEO';
  readonly image: File;
  readonly audio: File;
  readonly prompt?: string;
  readonly resolution?: string;
}

/** What holds for them. */
export const peopleKinds = {
  LIP_SYNC: {
    description: 'A talking face: an image or a video, moved by speech.',
    mutation: 'lipSync',
    category: 'avatar',
    files: { image: { kind: 'imageOrVideo' }, video: { kind: 'imageOrVideo' }, audio: { kind: 'audio' } },
    namesFiles: true,
    result: VIDEO_FILE,
    timeoutSeconds: LONG_SECONDS,
    normalize: checkedLipSync,
    problems: lipSyncProblems,
  },
  PERSON_DETECTION: {
    description: 'Whether an image shows a person.',
    mutation: 'detectPerson',
    generator: 'cloud/humanvid',
    category: 'avatar',
    files: { image: { kind: 'image' } },
    result: { ...IMAGES, name: 'mask', needsFile: false },
    timeoutSeconds: USUAL_SECONDS,
  },
  HUMAN_VIDEO: {
    description: 'A person in an image who speaks an audio file.',
    mutation: 'generateHumanVideo',
    generator: 'cloud/humanvid',
    category: 'avatar',
    files: { image: { kind: 'image' }, audio: { kind: 'audio' } },
    namesFiles: true,
    result: VIDEO_FILE,
    timeoutSeconds: LONG_SECONDS,
    problems: ({ prompt, resolution }, limits) => [
      ...unsupportedProblems('prompt', prompt !== undefined, limits),
      ...lengthProblems('prompt', prompt ?? '', limits?.maxPrompt),
      ...sizeProblems(resolution, limits),
    ],
  },
} as const satisfies RulesOf<LipSyncWork | PersonDetectionWork | HumanVideoWork>;

/** A sound brings its own words. */
function checkedLipSync({ text, ...work }: LipSyncWork): LipSyncWork {
  const { image, video, audio } = work;
  exactlyOne({ image, video });
  exactlyOne({ audio, text: (text ?? '').trim() });
  return audio !== undefined || text === undefined ? work : { ...work, text };
}

function lipSyncProblems(work: LipSyncWork, limits: Limits) {
  const { image, video, audio, text, voiceId } = work;
  return [
    ...exactlyOneProblem({ image, video }),
    ...exactlyOneProblem({ audio, text }),
    ...unsupportedProblems('image', image !== undefined, limits),
    ...unsupportedProblems('video', video !== undefined, limits),
    ...unsupportedProblems('audio', audio !== undefined, limits),
    ...unsupportedProblems('text', text !== undefined, limits),
    ...(text === undefined ? [] : blankProblems('text', text)),
    ...lengthProblems('text', text ?? '', limits?.maxPrompt),
    ...(voiceId !== undefined && text === undefined
      ? [{ field: 'voiceId', message: 'is for a text: an audio brings its own voice' }]
      : []),
    ...lengthProblems('prompt', work.prompt ?? '', limits?.maxPrompt),
    ...ratioProblems(work.aspectRatio, limits?.aspectRatios),
    ...choiceProblems('resolution', work.resolution, limits?.sizes),
  ];
}
