import { badInput } from '../../../../platform/errors.ts';
import {
  countProblems,
  notEmpty,
  choiceProblems,
  lengthProblems,
  ratioProblems,
  blankProblems,
  type Limits,
} from '../inputs/checks.ts';
import type { InputRef } from '../inputs/input-files.ts';
import { IMAGES, LONG_SECONDS, USUAL_SECONDS, type AtGenerator, type RulesOf } from './kind.ts';

/** People who are to appear in several images, and those images. */

/** A person who is learned from images of them. */
export interface CharacterWork<File = InputRef> extends AtGenerator {
  readonly kind: 'CHARACTER';
  readonly name: string;
  readonly images: readonly File[];
}

/** An image of a character. */
export interface CharacterImageWork extends AtGenerator {
  readonly kind: 'CHARACTER_IMAGE';
  /** The provider's id of a character that is ready. */
  readonly characterId?: string;
  readonly prompt: string;
  readonly aspectRatio?: string;
  readonly resolution?: string;
  readonly count?: number;
  readonly seed?: number;
}

const GENERATOR = 'custom/charv';
/** Longest name of a character. */
const MAX_NAME = 100;
/** Most images that are looked for at all; models have limits of their own. */
const MAX_IMAGES = 100;

/** What holds for them. */
export const characterKinds = {
  CHARACTER: {
    description: 'A person who can appear in several images.',
    mutation: 'createCharacter',
    generator: GENERATOR,
    category: 'avatar',
    files: { images: { kind: 'image', holds: 'list' } },
    result: { ...IMAGES, name: 'portrait', needsFile: false },
    timeoutSeconds: LONG_SECONDS,
    normalize: checkedCharacter,
    problems: characterProblems,
  },
  CHARACTER_IMAGE: {
    description: 'Images, of a character where one is named.',
    mutation: 'generateCharacterImage',
    generator: GENERATOR,
    category: 'image',
    files: {},
    result: IMAGES,
    timeoutSeconds: USUAL_SECONDS,
    normalize: (work) => notEmpty(work, 'prompt'),
    problems: (work, limits) => [
      ...blankProblems('prompt', work.prompt),
      ...lengthProblems('prompt', work.prompt, limits?.maxPrompt),
      ...ratioProblems(work.aspectRatio, limits?.aspectRatios),
      ...choiceProblems('resolution', work.resolution, limits?.sizes),
      ...countProblems(work.count, limits),
    ],
  },
} as const satisfies RulesOf<CharacterWork | CharacterImageWork>;

function checkedCharacter(work: CharacterWork): CharacterWork {
  const { length } = notEmpty(work, 'name').images;
  if (length >= 1 && length <= MAX_IMAGES) return work;
  throw badInput('images', `images: send from 1 to ${MAX_IMAGES} images of the person`);
}

function characterProblems({ name, images }: CharacterWork, limits: Limits) {
  const most = limits?.maxImages ?? MAX_IMAGES;
  return [
    ...blankProblems('name', name),
    ...lengthProblems('name', name, MAX_NAME),
    ...(images.length >= 1 && images.length <= most
      ? []
      : [{ field: 'images', message: `must be from 1 to ${most} files` }]),
  ];
}
