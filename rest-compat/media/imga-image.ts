import { CheckPrompt } from '../documents/media/questions.ts';
import { GenerateImage } from '../documents/media/start.ts';
import { success } from '../replies/envelope.ts';
import { submitted, taskReply } from '../replies/task.ts';
import { form, query, type UploadedFile } from '../route/params.ts';
import { route, type Section } from '../route/route.ts';
import { describeFile, describeLink } from './shared/describe-operations.ts';
import { healthRoute } from './shared/health.ts';
import { imageFields, multipart, optionalMultipart, references, seconds } from './shared/inputs.ts';
import { statusRoute } from './shared/status.ts';

const generator = 'imga';
const deprecated = true;

interface ImageFields {
  readonly prompt: string;
  readonly img_file: UploadedFile | undefined;
  readonly img_url: string | undefined;
  readonly ar: string | undefined;
}

/** What every way to start has. */
const start = {
  method: 'POST',
  deprecated,
  rateClass: 'start',
  variables: ({ prompt, img_file, img_url, ar }: ImageFields) => ({
    input: { generator, prompt, images: references(img_file, img_url), aspectRatio: ar },
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
      rateClass: 'read',
      variables: ({ prompt }) => ({ generator, prompt }),
      answers: 'PromptCheck',
      reply: ({ checkPrompt: { allowed, reasons } }) =>
        success({ allowed, reasons }, allowed ? 'nothing speaks against the prompt' : reasons.join('; ')),
    }),
    route(GenerateImage)({
      ...start,
      path: '/api/imga/sync/image',
      params: {
        prompt: query.text(),
        max_wait_time: query.integer({ fallback: 120, ...seconds }),
        // Accepted for old callers: the wait hears of the end at once.
        poll_interval: query.integer({ fallback: 2, ...seconds }),
        ...imageFields,
      },
      body: optionalMultipart,
      wait: { task: 'generateImage', ceiling: 'max_wait_time' },
      answers: 'MediaTask',
      reply: ({ generateImage }) => taskReply(generateImage),
    }),
    // The document says JSON and no more: a submission, as its name has no `sync`.
    route(GenerateImage)({
      ...start,
      path: '/api/imga/generate-image',
      params: { prompt: form.text(), ...imageFields },
      body: multipart,
      answers: 'Submission',
      reply: ({ generateImage }) => submitted(generateImage),
    }),
    describeLink({ path: '/api/imga/sync/img/describe', generator, deprecated }),
    describeFile({ path: '/api/imga/sync/file/img/describe', generator, deprecated }),
    healthRoute('/api/imga/health', { deprecated }),
    route(GenerateImage)({
      ...start,
      path: '/api/imga/async/generate/image',
      params: { prompt: query.text(), ...imageFields },
      body: optionalMultipart,
      answers: 'Submission',
      reply: ({ generateImage }) => submitted(generateImage),
    }),
    statusRoute({
      path: '/api/imga/async/query/status',
      deprecated,
      group: { generators: [generator], kinds: ['IMAGE', 'DESCRIPTION'] },
    }),
  ],
};
