import { badInput } from '../../../platform/errors.ts';
import type { MediaInput } from '../../documents/media/start.ts';
import { success, type Envelope } from '../../replies/envelopes.ts';
import type { UploadedFile } from '../../route/param.ts';
import { file, form } from '../../route/params.ts';

/** Form fields that several sections have, and how files and links become inputs. */

/** What may be left out. */
export const optional = { optional: true } as const;

/** What is not in the documents and may be left out. */
export const extension = { optional: true, extension: true } as const;

/** What the model takes besides, as JSON in the names of its vendor. Not in the documents. */
export const vendorOptions = { options: form.jsonText(extension) };

/** An image as a file or as a link. */
export const imageInputFields = {
  img_file: file(optional),
  img_url: form.url(optional),
};

/** What an image operation of generator A takes in its form. */
export const imageFields = { ...imageInputFields, ar: form.text(optional), ...vendorOptions };

/** An image's file and its link: at most one of them is used. */
export const oneImage = ['img_file', 'img_url'] as const;

/** A form that may carry files. */
export const multipart = { type: 'multipart/form-data', required: true } as const;
/** The same where the whole form may be missing. */
export const optionalMultipart = { ...multipart, required: false } as const;
/** A form of texts alone. */
export const urlencoded = { type: 'application/x-www-form-urlencoded', required: true } as const;

/** Seconds a caller may wait, and between polls: anything else is moved to the nearer end. */
export const seconds = { clamp: [1, 3600] } as const;

/** The file, else the link; an empty link counts as absent. */
export function toMediaInput(
  image: UploadedFile | undefined,
  url: string | undefined,
): MediaInput | undefined {
  if (image !== undefined) return { fileId: image.id };
  return url === undefined || url === '' ? undefined : { url };
}

/** As `toMediaInput`, for required inputs. Throws BAD_USER_INPUT when neither was sent. */
export function requiredInput(
  names: readonly [first: string, ...others: string[]],
  sent: UploadedFile | undefined,
  url: string | undefined,
): MediaInput {
  const input = toMediaInput(sent, url);
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
  const images = [toMediaInput(image, undefined), toMediaInput(undefined, url)].filter(
    (input) => input !== undefined,
  );
  return images.length === 0 ? undefined : images;
}

/** The reply to an upload that was also sent to a provider: `data` is the id that submissions take. */
export function resourceReply({ id, resource, ...file }: UploadedFile, message: string): Envelope {
  const { url, contentType, bytes, sha256 } = file;
  const extra = { url, content_type: contentType, bytes, sha256, provider: resource?.extra ?? null };
  return { ...success(id, message), extra };
}
