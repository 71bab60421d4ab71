import type { ImageInput } from '../../documents/media/start.ts';
import type { Values } from '../../route/param.ts';
import { form } from '../../route/params.ts';
import { optional, imageInputFields, references, vendorOptions } from './inputs.ts';

/** Pictures where the caller chooses the model: what the sections that offer it have in common. */

/** The fields of such a form. */
export const chosenImageFields = {
  prompt: form.text(),
  model: form.text(optional),
  ...imageInputFields,
  negative_prompt: form.text(optional),
  ar: form.text(optional),
  resolution: form.text(optional),
  n: form.integer(optional),
  seed: form.integer(optional),
  ...vendorOptions,
};

/** Such a request as the schema takes it. */
export function chosenImage(
  generator: string,
  { img_file, img_url, negative_prompt, ar, n, ...fields }: Values<typeof chosenImageFields>,
): ImageInput {
  return {
    generator,
    ...fields,
    images: references(img_file, img_url),
    negativePrompt: negative_prompt,
    aspectRatio: ar,
    count: n,
  };
}
