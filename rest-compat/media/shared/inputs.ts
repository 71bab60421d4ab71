import { badInput } from '../../../platform/errors.ts';
import type { MediaInput } from '../../documents/media/start.ts';
import { file, form, type UploadedFile } from '../../route/params.ts';

/** Form fields that several sections have, and how files and links become inputs. */

/** What may be left out. */
export const optional = { optional: true } as const;

/** A picture as a file or as a link. */
export const pictureFields = {
  img_file: file(optional),
  img_url: form.url(optional),
};

/** What an image operation of generator A takes in its form. */
export const imageFields = {
  ...pictureFields,
  ar: form.text(optional),
};

/** Forms that may carry files, and forms that are text. */
export const multipart = { type: 'multipart/form-data', required: true } as const;
/** A multipart form that may be missing altogether. */
export const optionalMultipart = { type: 'multipart/form-data', required: false } as const;
/** A urlencoded form. */
export const urlencoded = { type: 'application/x-www-form-urlencoded', required: true } as const;

/** Seconds a caller may wait, and between polls: anything else is moved to the nearer end. */
export const seconds = { clamp: [1, 3600] } as const;

/** The file, else the link; an empty link is no link. */
export function inputOf(image: UploadedFile | undefined, url: string | undefined): MediaInput | undefined {
  if (image !== undefined) return { fileId: image.id };
  return url === undefined || url === '' ? undefined : { url };
}

/** As `inputOf`, for what must be there: BAD_USER_INPUT says what to send. */
export function inputNeeded(
  names: readonly [first: string, ...others: string[]],
  sent: UploadedFile | undefined,
  url: string | undefined,
): MediaInput {
  const input = inputOf(sent, url);
  if (input === undefined) {
    const what = names.length === 1 ? 'a link or a file' : 'one of them';
    throw badInput(names[0], `${names.join(' or ')}: nothing was sent, send ${what}`);
  }
  return input;
}

/** The reference images of a request: a file, a link or both; undefined when there is none. */
export function references(
  image: UploadedFile | undefined,
  url: string | undefined,
): readonly MediaInput[] | undefined {
  const images = [inputOf(image, undefined), inputOf(undefined, url)].filter((input) => input !== undefined);
  return images.length === 0 ? undefined : images;
}
