import { z } from 'zod';

import type { JsonObject } from '../../../platform/json.ts';
import type { Job } from '../../jobs/job.ts';
import type { Journal } from '../../jobs/journal.ts';
import type { VideoRequest } from '../../studio/types/media-types.ts';
import { parseImageDataUrl, readText } from './inputs.ts';
import { readLines, storeInputs } from './perform.ts';

/** The `content` of videos as Volcengine's ModelArk and MiniMax's v2 API take it: texts, and images that have a role. */

const image = z.object({
  type: z.literal('image_url'),
  image_url: z.object({
    url: z.string().regex(/^data:image\/[\w.+-]+;base64,/, 'this stand-in takes data: URLs only'),
  }),
  role: z.enum(['first_frame', 'last_frame', 'reference_image']).default('first_frame'),
});

const item = z.union([z.object({ type: z.literal('text'), text: z.string().max(7_000) }), image]);
type ContentItem = z.output<typeof item>;

/** Items of a `content`: references and frames exclude each other. */
export const contentItems = z
  .array(item)
  .min(1, 'content is required')
  .refine((items) => new Set(items.flatMap(findGroup)).size < 2, {
    message: 'first and last frames cannot be mixed with reference media',
  });

function findGroup(one: ContentItem): string[] {
  if (one.type === 'text') return [];
  return [one.role === 'reference_image' ? 'references' : 'frames'];
}

/** The words of a `content`. */
export function joinTexts(items: readonly ContentItem[]): string {
  return items.flatMap((one) => (one.type === 'text' ? [one.text] : [])).join('\n');
}

/** What a job keeps of a `content`, its images stored. */
export async function storeContent(
  journal: Journal,
  id: string,
  items: readonly ContentItem[],
): Promise<JsonObject> {
  const images = items.flatMap((one) => (one.type === 'image_url' ? [one] : []));
  const files = images.map(({ image_url: { url } }) => parseImageDataUrl(url)?.bytes ?? Buffer.alloc(0));
  return {
    prompt: joinTexts(items),
    roles: images.map(({ role }) => role),
    pictures: await storeInputs(journal, id, files),
  };
}

/** What is rendered of a `content`; references only colour the prompt here. */
export function renderedContent({ input }: Job, images: readonly Buffer[]): VideoRequest {
  const roles = Array.isArray(input['roles']) ? input['roles'].map(String) : [];
  const findImage = (role: string) => images[roles.indexOf(role)];
  const [firstFrame, lastFrame] = [findImage('first_frame'), findImage('last_frame')];
  const ratio = readText(input['ratio']);
  return {
    prompt: readText(input['prompt']) ?? '',
    durationSeconds: Number(input['duration']),
    resolution: readLines(input['resolution']),
    ...(ratio !== null && ratio !== 'adaptive' && { aspectRatio: ratio }),
    ...(firstFrame !== undefined && { firstFrame }),
    ...(lastFrame !== undefined && { lastFrame }),
  };
}
