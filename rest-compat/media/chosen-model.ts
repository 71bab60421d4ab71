import { Models } from '../documents/media/questions.ts';
import { GenerateImage, type ImageInput } from '../documents/media/start.ts';
import { route } from '../route/define-route.ts';
import type { Values } from '../route/param.ts';
import { query, form } from '../route/params.ts';
import type { Section } from '../route/route.ts';
import { multipart, optional, imageInputFields, references, vendorOptions } from './shared/inputs.ts';
import { modelsReply, modelsRoute } from './shared/questions.ts';
import { submission, synchronous } from './shared/start-operations.ts';
import { statusRoute } from './shared/status.ts';
import { submitVideoWithLast } from './shared/video-operations.ts';

/** Images where the caller chooses the model: what the sections that offer it have in common. */

/** The fields of such a form. */
const chosenImageFields = {
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
function chosenImage(
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

const CUSTOM = 'custom';

/** Stable custom group: images and videos of models that the caller chooses. */
export const custom: Section = {
  service: 'media',
  title: 'Stable custom group',
  routes: [
    route(Models)({
      method: 'GET',
      path: '/api/custom/model/list',
      params: { category: query.choice(['image', 'video'], { fallback: 'image' }) },
      variables: ({ category }) => ({ generator: CUSTOM, category }),
      responseSchema: 'Models',
      reply: ({ models }) => modelsReply(models),
    }),
    submission(GenerateImage)({
      path: '/api/custom/image/submit/task',
      params: chosenImageFields,
      body: multipart,
      variables: (fields) => ({ input: chosenImage(CUSTOM, fields) }),
    }),
    submitVideoWithLast({ path: '/api/custom/video/submit/task', generator: CUSTOM }),
    statusRoute({
      path: '/api/custom/task/status',
      group: { generators: [CUSTOM], kinds: ['IMAGE', 'VIDEO'] },
    }),
  ],
};

const UNION = 'union';

/** Aggregated image and video: the caller chooses the model. */
export const union: Section = {
  service: 'media',
  title: 'Aggregated image and video (model-selected)',
  routes: [
    modelsRoute({ path: '/api/union/img/model/list', category: 'image', within: UNION }),
    synchronous(GenerateImage)({
      path: '/api/union/img/sync/generate/image',
      params: chosenImageFields,
      body: multipart,
      variables: (fields) => ({ input: chosenImage(UNION, fields) }),
    }),
    modelsRoute({ path: '/api/union/video/model/list', category: 'video', within: UNION }),
    submitVideoWithLast({ path: '/api/union/video/async/generate/video', generator: UNION }),
    statusRoute({
      path: '/api/union/video/async/{task_id}/status',
      group: { generators: [UNION], kinds: ['VIDEO'] },
    }),
  ],
};
