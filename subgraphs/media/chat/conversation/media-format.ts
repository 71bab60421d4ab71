import { badInput } from '../../../../platform/errors.ts';
import type { JsonObject } from '../../../../platform/json.ts';

/** Media as parts in OpenAI's format; a video as in the compatible servers that take videos. */

/** The part of a file. `data` is base64. Throws BAD_USER_INPUT when no part can hold it. */
export function mediaPartOf(
  { contentType, data }: { readonly contentType: string; readonly data: string },
  field: string,
): JsonObject {
  const url = `data:${contentType};base64,${data}`;
  if (contentType.startsWith('image/')) return { type: 'image_url', image_url: { url } };
  if (contentType.startsWith('video/')) return { type: 'video_url', video_url: { url } };
  if (contentType.startsWith('audio/')) {
    return { type: 'input_audio', input_audio: { data, format: readFormat(contentType) } };
  }
  throw badInput(field, `${field} is neither an image, a sound nor a video but ${contentType || 'unknown'}`);
}

const DATA_URL = /^data:([\w.+-]+\/[\w.+-]+)(?:;[\w=.+-]+)*;base64,/;

/** The part of a data: address. */
export function dataPartOf(url: string, field: string): JsonObject {
  const [head, contentType] = DATA_URL.exec(url) ?? [];
  if (head === undefined || contentType === undefined) {
    throw badInput(field, `${field} must be a data: address with a media type and base64`);
  }
  return mediaPartOf({ contentType, data: url.slice(head.length) }, field);
}

/** The short name of an audio format in OpenAI's API. */
function readFormat(contentType: string): string {
  const name = contentType.slice('audio/'.length).replace(/^x-|^vnd\./, '');
  return { mpeg: 'mp3', wave: 'wav', mp4: 'm4a' }[name] ?? name;
}
