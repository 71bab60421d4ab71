import { badInput } from '../../../../platform/errors.ts';
import type { CharacterImageWork } from '../../domain/task.ts';
import { notEmpty, prepared, withoutAbsent, type Asker, type Prepared } from '../prepare.ts';
import {
  DEFAULT_GENERATORS,
  type CharacterImageRequest,
  type CharacterRequest,
} from '../requests/person-requests.ts';
import { resolveInputs, type InputFileDependencies, type NamedInput } from '../resolve-inputs.ts';

/** A person who is to appear in several pictures, and those pictures. */

const generator = DEFAULT_GENERATORS.character;
/** Most pictures that are looked for at all; models have limits of their own. */
const MAX_IMAGES = 100;

/** Checks the pictures that a character is learned from. Throws BAD_USER_INPUT. */
export async function prepareCharacter(
  dependencies: InputFileDependencies,
  asker: Asker,
  { name, images }: CharacterRequest,
): Promise<Prepared> {
  notEmpty('name', name);
  if (images.length < 1 || images.length > MAX_IMAGES) {
    throw badInput('images', `images: send from 1 to ${MAX_IMAGES} pictures of the person`);
  }
  const inputs = images.map((input, index): NamedInput => ({
    field: `images[${index}]`,
    input,
    kind: 'picture',
  }));
  const files = await resolveInputs(dependencies, { ...asker, inputs });
  const asked = { generator, name };
  const work = { kind: 'CHARACTER', ...asked, images: files.map(({ ref }) => ref) } as const;
  return prepared('createCharacter', work, asked, files);
}

/** Checks what a picture of a character shall show. Throws BAD_USER_INPUT. */
export function prepareCharacterImage({ prompt, ...rest }: CharacterImageRequest): Prepared {
  notEmpty('prompt', prompt);
  const asked: CharacterImageWork = { generator, prompt, ...withoutAbsent(rest) };
  return prepared('generateCharacterImage', { kind: 'CHARACTER_IMAGE', ...asked }, asked, []);
}
