import {
  countProblems,
  unsupportedProblems,
  choiceProblems,
  lengthProblems,
  ratioProblems,
  blankProblems,
  type Limits,
  notEmpty,
} from '../inputs/checks.ts';
import type { InputRef } from '../inputs/input-files.ts';
import { IMAGES, USUAL_SECONDS, type AtGenerator, type RulesOf } from './kind.ts';

/** Images from words and from images, and words for images. */

/** Images from words, and from images. */
export interface ImageWork<File = InputRef> extends AtGenerator {
  readonly kind: 'IMAGE';
  readonly prompt: string;
  readonly negativePrompt?: string;
  readonly images?: readonly File[];
  /** Which part of the first of `images` is drawn anew: what is white; what is black stays. */
  readonly mask?: File;
  /** W:H with integers from 1 to 64. */
  readonly aspectRatio?: string;
  readonly resolution?: string;
  readonly count?: number;
  readonly seed?: number;
  /** How much is spent on it: low, medium, high, ..., as the model has them. */
  readonly quality?: string;
  /** transparent, opaque, auto. */
  readonly background?: string;
  /** png, jpeg, webp. */
  readonly outputFormat?: string;
  /** fast, turbo, relax: midjourney's path prefix. */
  readonly speedMode?: string;
  /** Whether it may take a day, for half the price where its vendor has batches. */
  readonly batch?: boolean;
}

/** Prompts that would make such an image. */
export interface DescriptionWork<File = InputRef> extends AtGenerator {
  readonly kind: 'DESCRIPTION';
  readonly image: File;
}

const MAX_IMAGES = 10;
const SPEED_MODES = ['fast', 'turbo', 'relax'];

/** What holds for them. */
export const imageKinds = {
  IMAGE: {
    description: 'One or more images.',
    mutation: 'generateImage',
    category: 'image',
    files: { images: { kind: 'image', holds: 'list' }, mask: { kind: 'image' } },
    namesFiles: true,
    result: IMAGES,
    timeoutSeconds: USUAL_SECONDS,
    weight: 3,
    normalize: ({ images = [], ...work }) => (images.length === 0 ? work : { ...work, images }),
    problems: imageProblems,
  },
  DESCRIPTION: {
    description: 'Prompts that describe an image.',
    mutation: 'describeImage',
    category: 'image',
    files: { image: { kind: 'image' } },
    result: { ...IMAGES, needsFile: false },
    timeoutSeconds: USUAL_SECONDS,
  },
} as const satisfies RulesOf<ImageWork | DescriptionWork>;

function imageProblems(work: ImageWork, limits: Limits) {
  const images = work.images?.length ?? 0;
  const maxImages = limits?.maxImages ?? MAX_IMAGES;
  return [
    ...blankProblems('prompt', work.prompt),
    ...lengthProblems('prompt', work.prompt, limits?.maxPrompt),
    ...ratioProblems(work.aspectRatio, limits?.aspectRatios),
    ...choiceProblems('resolution', work.resolution, limits?.sizes),
    ...countProblems(work.count, limits),
    ...choiceProblems('speedMode', work.speedMode, SPEED_MODES),
    ...(images <= maxImages ? [] : [{ field: 'images', message: `must be at most ${maxImages} files` }]),
    ...unsupportedProblems('images', images > 0, limits),
    ...unsupportedProblems('mask', work.mask !== undefined, limits),
    ...['images', 'mask'].flatMap((field) => {
      const isThere = field === 'mask' ? work.mask !== undefined : images > 0;
      return isThere || limits?.needs.includes(field) !== true ? [] : [{ field, message: 'is needed' }];
    }),
    ...(work.mask !== undefined && images === 0
      ? [{ field: 'mask', message: 'needs the image that it belongs to, in images' }]
      : []),
  ];
}

/** A question about an image, a video or a sound. */
export interface AnalysisWork<File = InputRef> extends AtGenerator {
  readonly kind: 'ANALYSIS';
  readonly media: File;
  readonly prompt: string;
  readonly system?: string;
}

/** What holds for it. */
export const analysisKinds = {
  ANALYSIS: {
    description: 'A text about an image, a recording or a video.',
    mutation: 'analyzeMedia',
    category: 'language',
    files: { media: { kind: 'media' } },
    result: { name: 'result', types: ['text/'], label: 'a text', needsFile: false },
    timeoutSeconds: USUAL_SECONDS,
    normalize: (work) => notEmpty(work, 'prompt'),
    problems: ({ prompt }, limits) => [
      ...blankProblems('prompt', prompt),
      ...lengthProblems('prompt', prompt, limits?.maxPrompt),
    ],
  },
} as const satisfies RulesOf<AnalysisWork>;
