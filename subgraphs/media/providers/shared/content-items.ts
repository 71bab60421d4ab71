import type { InputFile } from '../../domain/inputs/input.ts';
import type { VideoRequest } from '../../domain/work/request.ts';
import { dataUri } from './exchange.ts';

/** One part of what a video is made of, as Volcengine's ModelArk and MiniMax's v2 API name them. */
type ContentItem =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string }; readonly role: Role };

type Role = 'first_frame' | 'last_frame' | 'reference_image';

/** The `content` of a video: its prompt, then its frames or references, by their public address or inline. */
export async function contentItems(request: VideoRequest): Promise<readonly ContentItem[]> {
  const { prompt = '', firstFrame, lastFrame, references = [] } = request;
  const pictures = [
    { file: firstFrame, role: 'first_frame', field: 'firstFrame' },
    { file: lastFrame, role: 'last_frame', field: 'lastFrame' },
    ...references.map((file) => ({ file, role: 'reference_image', field: 'references' }) as const),
  ] as const;
  const items = await Promise.all(pictures.map(({ file, role, field }) => pictureItem(file, role, field)));
  return [...(prompt === '' ? [] : [{ type: 'text', text: prompt } as const]), ...items.flat()];
}

async function pictureItem(file: InputFile | undefined, role: Role, field: string): Promise<ContentItem[]> {
  if (file === undefined) return [];
  const url = file.publicUrl ?? (await dataUri(file, field));
  return [{ type: 'image_url', image_url: { url }, role }];
}

/** The `ratio` of a video; with pictures it is theirs unless somebody says otherwise. */
export function ratioOf({ aspectRatio, firstFrame, lastFrame, references = [] }: VideoRequest): string {
  const hasPictures = firstFrame !== undefined || lastFrame !== undefined || references.length > 0;
  return aspectRatio ?? (hasPictures ? 'adaptive' : '16:9');
}
