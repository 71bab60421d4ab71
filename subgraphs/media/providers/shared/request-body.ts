import { isObject, type JsonObject } from '../../../../platform/json.ts';
import { invalidInput } from '../../domain/failure.ts';
import type { InputFile } from '../../domain/inputs/input-files.ts';
import type { VideoRequest } from '../../domain/work/request.ts';
import { dataUri } from './exchange.ts';

/** Fields as a wire sends them; what is undefined is not sent. */
type Fields = Readonly<Record<string, unknown>>;

interface MergeOptions {
  readonly options?: JsonObject | undefined;
}

/**
 * The fields of a body with the caller's options among them, objects into objects. Fields that Kiln fills in win: an option
 * that would replace one is refused. `defaults` are sent where nobody says otherwise.
 */
export function withVendorOptions(
  { options = {} }: MergeOptions,
  fields: Fields,
  defaults: Fields = {},
): Record<string, unknown> {
  const sent = merged(fields, options, 'options');
  const left = Object.entries(defaults).filter(([name]) => sent[name] === undefined);
  return { ...sent, ...Object.fromEntries(left) };
}

function merged(fields: Fields, options: JsonObject, at: string): Record<string, unknown> {
  const all: Record<string, unknown> = { ...fields };
  for (const [name, value] of Object.entries(options)) {
    const field = `${at}.${name}`;
    const own = Object.hasOwn(all, name) ? all[name] : undefined;
    if (own === undefined) all[name] = value;
    else if (isObject(own) && isObject(value)) all[name] = merged(own, value, field);
    else throw invalidInput(field, 'is sent by Kiln itself, from the other inputs');
  }
  return all;
}

/** A value as a field of a form has it. */
export function formValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** One part of what a video is made of, as Volcengine's ModelArk and MiniMax's v2 API name them. */
type ContentItem =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string }; readonly role: Role };

type Role = 'first_frame' | 'last_frame' | 'reference_image';

/** The `content` of a video: its prompt, then its frames or references, by their public address or inline. */
export async function contentItems(request: VideoRequest): Promise<readonly ContentItem[]> {
  const { prompt = '', firstFrame, lastFrame, references = [] } = request;
  const images = [
    { file: firstFrame, role: 'first_frame', field: 'firstFrame' },
    { file: lastFrame, role: 'last_frame', field: 'lastFrame' },
    ...references.map((file) => ({ file, role: 'reference_image', field: 'references' }) as const),
  ] as const;
  const items = await Promise.all(images.map(({ file, role, field }) => imageItem(file, role, field)));
  return [...(prompt === '' ? [] : [{ type: 'text', text: prompt } as const]), ...items.flat()];
}

async function imageItem(file: InputFile | undefined, role: Role, field: string): Promise<ContentItem[]> {
  if (file === undefined) return [];
  const url = file.publicUrl ?? (await dataUri(file, field));
  return [{ type: 'image_url', image_url: { url }, role }];
}

/** The `ratio` of a video; with images it is theirs unless somebody says otherwise. */
export function chooseRatio({ aspectRatio, firstFrame, lastFrame, references = [] }: VideoRequest): string {
  const hasImages = firstFrame !== undefined || lastFrame !== undefined || references.length > 0;
  return aspectRatio ?? (hasImages ? 'adaptive' : '16:9');
}

/** A multipart body with its content type, encoded by Node. */
export async function encodeForm(
  form: FormData,
): Promise<{ readonly bytes: Uint8Array; readonly headers: Record<string, string> }> {
  const encoded = new Response(form);
  return {
    bytes: new Uint8Array(await encoded.arrayBuffer()),
    headers: { 'content-type': encoded.headers.get('content-type') ?? 'multipart/form-data' },
  };
}
