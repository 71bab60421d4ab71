import type { JsonObject } from '../../../platform/json.ts';
import type { Logger } from '../../../platform/logger.ts';
import { bytes, json, text } from '../../http/answer.ts';
import type { Wire, WireRequest, WireRoute } from '../../http/wire.ts';
import { createJobRunner } from '../../jobs/job-runner.ts';
import type { JobRunner } from '../../jobs/job-runner.ts';
import type { Job, JobResult } from '../../jobs/job.ts';
import type { Journal } from '../../jobs/journal.ts';
import type { Pace } from '../../jobs/pace.ts';
import type { ImageFormat, ImageRequest, Studio } from '../../studio/types.ts';
import { createExpiry } from '../shared/expiry.ts';
import { describePicture, inputPictures, renderPicture } from '../shared/perform.ts';
import type { Workshop } from '../shared/perform.ts';
import { textOf } from '../shared/text-of.ts';
import { chat } from './chat.ts';
import { openaiError, refuse, wrongKey } from './errors.ts';
import { editImages, generateImages } from './images.ts';
import { replyTo } from './rules/reply.ts';
import { MODERATED } from './start.ts';
import type { OpenaiContext } from './start.ts';

/** The name of this wire in faults, paces and jobs, and its mount. */
export const OPENAI = 'openai';

export interface OpenaiOptions {
  readonly studio: Studio;
  readonly journal: Journal;
  readonly pace: () => Pace;
  /** When set, `Authorization: Bearer` must carry it. */
  readonly secret: string | null;
  readonly logger: Logger;
}

/** The OpenAI wire: chat (local-rules, no language model), pictures (local-studio), models. */
export function createOpenai(options: OpenaiOptions): { wire: Wire; runner: JobRunner } {
  const runner = createJobRunner({
    wire: OPENAI,
    journal: options.journal,
    pace: options.pace,
    perform: (job, signal, onPreview) => perform(options, job, signal, onPreview),
    words: { moderate: MODERATED, fail: 'The server had an error while processing your request.' },
    logger: options.logger,
  });
  const wire: Wire = {
    name: OPENAI,
    mount: 'openai',
    refuse,
    door: ({ path, headers }) => {
      const isLet = options.secret === null || headers['authorization'] === `Bearer ${options.secret}`;
      return isLet || path.startsWith('/results/') ? { path, params: {} } : { answer: wrongKey() };
    },
    routes: routesOf({ runner, journal: options.journal, expiry: createExpiry(), starting: new Map() }),
  };
  return { wire, runner };
}

const MODELS = [
  { id: 'local-rules', object: 'model', created: 1_760_000_000, owned_by: 'local' },
  { id: 'local-studio', object: 'model', created: 1_760_000_000, owned_by: 'local' },
];

function routesOf(context: OpenaiContext): WireRoute[] {
  return [
    {
      method: 'GET',
      path: '/v1/models',
      operation: 'models',
      handle: () => json({ object: 'list', data: MODELS }),
    },
    {
      method: 'GET',
      path: '/v1/models/:id',
      operation: 'models',
      handle: ({ params }) => modelAnswer(params['id'] ?? ''),
    },
    {
      method: 'POST',
      path: '/v1/chat/completions',
      operation: 'chat',
      handle: (request, fault) => chat(context, request, fault),
    },
    {
      method: 'POST',
      path: '/v1/images/generations',
      operation: 'images',
      handle: (request, fault) => generateImages(context, request, fault),
    },
    {
      method: 'POST',
      path: '/v1/images/edits',
      operation: 'edits',
      handle: (request, fault) => editImages(context, request, fault),
    },
    {
      method: 'GET',
      path: '/results/:id/:edition/:name',
      operation: 'download',
      handle: (request, fault) => {
        if (fault?.fault === 'expired-url') context.expiry.expire(request.params['id'] ?? '');
        return download(context, request);
      },
    },
  ];
}

function modelAnswer(id: string) {
  const model = MODELS.find((known) => known.id === id);
  if (model !== undefined) return json(model);
  return openaiError(404, {
    message: `The model '${id}' does not exist`,
    type: 'invalid_request_error',
    param: 'model',
    code: 'model_not_found',
  });
}

async function download({ runner, journal, expiry }: OpenaiContext, { params }: WireRequest) {
  const { id = '', edition = '', name = '' } = params;
  const file = runner.get(id)?.result?.files.find((other) => other.name === name);
  const isGood = file !== undefined && edition === String(expiry.editionOf(id));
  const picture = isGood ? await journal.readPicture(name) : null;
  if (file === undefined || picture === null) return text('This link has expired.', 403);
  return bytes(picture, file.contentType);
}

async function perform(
  workshop: Workshop,
  job: Job,
  signal: AbortSignal,
  onPreview: () => void,
): Promise<JobResult> {
  const pictures = await inputPictures(workshop.journal, job.input);
  if (job.operation === 'chat') return answerChat(workshop, job, pictures.length > 0, signal);
  const count = Number(job.input['n'] ?? 1);
  const files: JobResult['files'][number][] = [];
  for (let index = 0; index < count; index += 1) {
    const request = imageRequest(job.input, index, pictures);
    const one = await renderPicture(workshop, { id: job.id, index, onPreview }, request, signal);
    files.push(...one.files);
  }
  return { files, texts: [], facts: {} };
}

async function answerChat(
  workshop: Workshop,
  { input }: Job,
  hasPicture: boolean,
  signal: AbortSignal,
): Promise<JobResult> {
  if (hasPicture) {
    const { texts, facts } = await describePicture(workshop, input, signal);
    const caption = textOf(facts['caption']) ?? '';
    return {
      files: [],
      texts: [`${caption} (measured by local-rules, nothing is recognised) ${texts[0] ?? ''}`],
      facts,
    };
  }
  const question = { system: textOf(input['system']) ?? '', user: textOf(input['prompt']) ?? '' };
  return { files: [], texts: [replyTo(question)], facts: {} };
}

const AUTO_SIZE = { width: 1_024, height: 1_024 };

function imageRequest(input: JsonObject, index: number, references: readonly Buffer[]): ImageRequest {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(textOf(input['size']) ?? '') ?? [];
  const isExact = width !== undefined && height !== undefined;
  return {
    prompt: textOf(input['prompt']) ?? '',
    format: (textOf(input['format']) ?? 'png') as ImageFormat,
    size: isExact ? { width: Number(width), height: Number(height) } : AUTO_SIZE,
    references,
    ...(index === 0 ? {} : { seed: index }),
  };
}
