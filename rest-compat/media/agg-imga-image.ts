import { file, form, query } from '../params.ts';
import type { UploadedFile } from '../params.ts';
import { taskReply } from '../replies/task.ts';
import { route } from '../route.ts';
import type { Section } from '../route.ts';
import { GenerateImage } from './documents.ts';
import type { MediaInput } from './documents.ts';

/** Seconds a caller may wait, and between polls: anything else is moved to the nearer end. */
const seconds = { clamp: [1, 3600] } as const;

/** Aggregated image generator A. */
export const aggImgaImage: Section = {
  service: 'media',
  title: 'Aggregated image generator A',
  routes: [
    route(GenerateImage)({
      method: 'POST',
      path: '/api/agg/imga/sync/image',
      params: {
        prompt: query.text(),
        max_wait_time: query.integer({ fallback: 500, ...seconds }),
        // Accepted for old callers: the wait hears of the end at once.
        poll_interval: query.integer({ fallback: 4, ...seconds }),
        mode: query.text({ fallback: 'fast', known: ['fast', 'turbo'] }),
        img_file: file({ optional: true }),
        img_url: form.url({ optional: true }),
        ar: form.text({ optional: true }),
      },
      body: { type: 'multipart/form-data', required: false },
      rateClass: 'start',
      variables: ({ prompt, mode, img_file, img_url, ar }) => ({
        input: {
          generator: 'agg/imga',
          prompt,
          images: references(img_file, img_url),
          aspectRatio: ar,
          speedMode: mode,
        },
      }),
      wait: { task: 'generateImage', ceiling: 'max_wait_time' },
      reply: ({ generateImage }) => taskReply(generateImage),
    }),
  ],
};

/** The reference images of a request: a file, a link or both; undefined when there is none. */
function references(
  image: UploadedFile | undefined,
  url: string | undefined,
): readonly MediaInput[] | undefined {
  const images = [
    ...(image === undefined ? [] : [{ fileId: image.id }]),
    ...(url === undefined ? [] : [{ url }]),
  ];
  return images.length === 0 ? undefined : images;
}
