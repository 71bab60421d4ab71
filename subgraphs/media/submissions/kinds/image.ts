import type { ImageWork, InputRef, Work } from '../../domain/task.ts';
import { prepared, withoutAbsent, type Asker, type Prepared } from '../prepare.ts';
import { resolveInputs, type InputFileDependencies, type NamedInput } from '../resolve-inputs.ts';
import type { DescriptionRequest, ImageRequest } from '../submissions.ts';

/** Images, and descriptions of images. */

/** Checks what a picture shall show, and the pictures it starts from. Throws BAD_USER_INPUT. */
export async function prepareImage(
  dependencies: InputFileDependencies,
  asker: Asker,
  request: ImageRequest,
): Promise<Prepared> {
  const { images: sent, generator, prompt, ...rest } = request;
  const inputs = (sent ?? []).map((input, index): NamedInput => ({
    field: `images[${index}]`,
    input,
    kind: 'picture',
  }));
  const files = await resolveInputs(dependencies, { ...asker, inputs });
  const asked: Omit<ImageWork, 'images'> = { generator, prompt, ...withoutAbsent(rest) };
  const images: readonly InputRef[] = files.map(({ ref }) => ref);
  const work: Work = { kind: 'IMAGE', ...asked, ...(images.length === 0 ? {} : { images }) };
  return prepared('generateImage', work, asked, files);
}

/** Checks a picture that shall be put into words. Throws BAD_USER_INPUT. */
export async function prepareDescription(
  dependencies: InputFileDependencies,
  asker: Asker,
  { generator, image: input }: DescriptionRequest,
): Promise<Prepared> {
  const inputs = [{ field: 'image', input, kind: 'picture' }] as const;
  const [image] = await resolveInputs(dependencies, { ...asker, inputs });
  if (image === undefined) throw new Error('one input was resolved to none');
  const work: Work = { kind: 'DESCRIPTION', generator, image: image.ref };
  return prepared('describeImage', work, { generator }, [image]);
}
