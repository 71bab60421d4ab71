import type { ImageInput } from '../../documents/media/start.ts';
import { form, type UploadedFile } from '../../route/params.ts';
import { optional, pictureFields, references } from './inputs.ts';

/** Pictures where the caller chooses the model: what the groups that offer it have alike. */

/** The fields of such a form. */
export const chosenImageFields = {
  prompt: form.text(),
  model: form.text(optional),
  ...pictureFields,
  negative_prompt: form.text(optional),
  ar: form.text(optional),
  resolution: form.text(optional),
  n: form.integer(optional),
  seed: form.integer(optional),
};

interface ChosenImageFields {
  readonly prompt: string;
  readonly model: string | undefined;
  readonly img_file: UploadedFile | undefined;
  readonly img_url: string | undefined;
  readonly negative_prompt: string | undefined;
  readonly ar: string | undefined;
  readonly resolution: string | undefined;
  readonly n: number | undefined;
  readonly seed: number | undefined;
}

/** Such a request as the schema takes it. */
export function chosenImage(
  generator: string,
  { img_file, img_url, negative_prompt, ar, n, ...fields }: ChosenImageFields,
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
