import { CheckPrompt } from '../documents/media/questions.ts';
import { GenerateImage } from '../documents/media/start.ts';
import { success } from '../replies/envelopes.ts';
import { route } from '../route/define-route.ts';
import type { Values } from '../route/param.ts';
import { form, query } from '../route/params.ts';
import type { Section } from '../route/route.ts';
import { imageFields, multipart, optionalMultipart, references, seconds } from './shared/inputs.ts';
import { healthRoute } from './shared/questions.ts';
import { describeFile, describeLink, submission, synchronous } from './shared/start-operations.ts';
import { statusRoute } from './shared/status.ts';

const generator = 'imga';
const deprecated = true;

const params = { prompt: query.text(), ...imageFields };

/** What every way to start has. */
const start = {
  deprecated,
  variables: ({ prompt, img_file, img_url, ar, options }: Values<typeof params>) => ({
    input: { generator, prompt, images: references(img_file, img_url), aspectRatio: ar, options },
  }),
} as const;

/** Generator A image, older group (deprecated). */
export const imgaImage: Section = {
  service: 'media',
  title: 'Generator A image, older group (all deprecated)',
  routes: [
    route(CheckPrompt)({
      method: 'GET',
      path: '/api/imga/prompt/check',
      deprecated,
      params: { prompt: query.text() },
      variables: ({ prompt }) => ({ generator, prompt }),
      responseSchema: 'PromptCheck',
      reply: ({ checkPrompt: { allowed, reasons } }) =>
        success({ allowed, reasons }, allowed ? 'nothing speaks against the prompt' : reasons.join('; ')),
    }),
    synchronous(GenerateImage)({
      ...start,
      path: '/api/imga/sync/image',
      params: {
        prompt: query.text(),
        max_wait_time: query.integer({ fallback: 120, ...seconds }),
        // Accepted for old callers: nothing is polled, the wait learns of the end at once.
        poll_interval: query.integer({ fallback: 2, ...seconds }),
        ...imageFields,
      },
      body: optionalMultipart,
      maxWait: 'max_wait_time',
    }),
    // The document says JSON and no more: a submission, as its name has no `sync`.
    submission(GenerateImage)({
      ...start,
      path: '/api/imga/generate-image',
      params: { prompt: form.text(), ...imageFields },
      body: multipart,
    }),
    describeLink({ path: '/api/imga/sync/img/describe', generator, deprecated }),
    describeFile({ path: '/api/imga/sync/file/img/describe', generator, deprecated }),
    healthRoute('/api/imga/health', { deprecated, generators: [generator] }),
    submission(GenerateImage)({
      ...start,
      path: '/api/imga/async/generate/image',
      params,
      body: optionalMultipart,
    }),
    statusRoute({
      path: '/api/imga/async/query/status',
      deprecated,
      group: { generators: [generator], kinds: ['IMAGE', 'DESCRIPTION'] },
    }),
  ],
};
