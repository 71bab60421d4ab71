import type { Wire, WireRequest } from '../../http/wire.ts';
import { createJobRunner } from '../../jobs/job-runner.ts';
import { hasEnded, type Job, type JobResult } from '../../jobs/job.ts';
import { StudioError, type PresenterRequest } from '../../studio/types/media-types.ts';
import type { Studio } from '../../studio/types/studio.ts';
import { detail, invalidField } from '../shared/fastapi.ts';
import { readText } from '../shared/inputs.ts';
import { inputImages, type MediaTools } from '../shared/perform.ts';
import { createResults } from '../shared/results.ts';
import type { StandIn, WebhookStandInOptions } from '../shared/stand-in.ts';
import { startWebhooks } from '../shared/webhooks.ts';
import { CODES, MODERATED, refusal, INVALID } from './errors.ts';
import { fileRoutes } from './files.ts';
import { toResult } from './job-json.ts';
import { jobRoutes } from './jobs.ts';
import type { HedraParts } from './parts.ts';
import { assetRoutes } from './web-app-assets.ts';
import { generationRoutes } from './web-app.ts';

/** The name of this wire in faults, latencies and jobs, and its mount. */
export const HEDRA = 'hedra';

export interface HedraOptions extends WebhookStandInOptions {
  /** When set, the key that `Authorization: Bearer` must carry; `X-API-Key` at the older API. */
  readonly secret: string | null;
}

/** Hedra's two APIs over the same jobs: v3, and the older one below `/web-app`. Neither has a cancel. */
export function createHedra(options: HedraOptions): StandIn {
  const { studio, journal, secret, logger } = options;
  const runner = createJobRunner({
    wire: HEDRA,
    journal,
    latency: options.latency,
    perform: (job, signal) => perform(options, job, signal),
    words: { moderate: MODERATED, fail: 'Internal error, please try again' },
    logger,
  });
  const parts: HedraParts = { studio, runner, journal, results: createResults(journal, runner) };
  startWebhooks({
    runner,
    readUrl: ({ input }) => input['webhook'],
    makePayload: (job) => (hasEnded(job) ? toResult(parts, job, options.baseUrl()) : null),
    sign: (_body, job) => ({ 'x-hedra-webhook-id': job.id }),
    tries: 4,
    logger,
  });
  const wire: Wire = {
    name: HEDRA,
    mount: 'hedra',
    authorize: (request) => checkCredentials(request, secret),
    refuse: (status, message, retryAfter, path = '') =>
      isOlder(path) ? detail(status, message) : refusal(status, CODES[status], { message, retryAfter }),
    refuseModel: ({ path }) =>
      isOlder(path)
        ? invalidField(['model_slug'], 'Model not found')
        : refusal(404, 'NOT_FOUND', { message: 'Model not found.' }),
    routes: [
      parts.results.route,
      ...fileRoutes(parts),
      ...jobRoutes(parts),
      ...assetRoutes(parts),
      ...generationRoutes(parts),
    ],
  };
  return { wire, runner };
}

function isOlder(path: string): boolean {
  return path.startsWith('/web-app/');
}

/** The addresses of files need no key. */
const OPEN = /^\/(results|upload|uploads)\//;

function checkCredentials({ path, headers }: WireRequest, secret: string | null) {
  const older = headers['x-api-key'];
  const bearer = headers['authorization']?.replace(/^Bearer /, '');
  const credential = isOlder(path) ? older : bearer;
  const isIn = secret === null ? credential !== undefined : credential === secret;
  if (isIn || OPEN.test(path)) return { path, params: {} };
  return {
    answer: isOlder(path)
      ? detail(401, 'Invalid API key')
      : refusal(401, 'UNAUTHORIZED', { message: 'Invalid API key.' }),
  };
}

/** Renders the talking image, or speaks a text; a file needs no work. */
async function perform(tools: MediaTools, job: Job, signal: AbortSignal): Promise<JobResult> {
  if (job.operation === 'file') return { files: [], texts: [], facts: {} };
  try {
    return await (job.operation === 'speech' ? speak(tools, job, signal) : animate(tools, job, signal));
  } catch (error) {
    if (!(error instanceof StudioError)) throw error;
    throw new Error(`${INVALID}${error.message}`, { cause: error });
  }
}

async function animate({ studio, journal }: MediaTools, job: Job, signal: AbortSignal): Promise<JobResult> {
  const { bytes, contentType, width, height, duration } = await studio.presenter(
    presenterRequest(studio, job, await inputImages(journal, job.input)),
    { signal },
  );
  const name = `${job.id}-0.mp4`;
  await journal.writeImage(name, bytes);
  signal.throwIfAborted();
  return { files: [{ name, contentType, width, height, duration }], texts: [], facts: {} };
}

async function speak({ studio, journal }: MediaTools, job: Job, signal: AbortSignal): Promise<JobResult> {
  const voice = findVoice(studio, job);
  const { bytes, contentType, duration } = await studio.speech(
    {
      text: readText(job.input['text']) ?? '',
      speed: Number(job.input['speed'] ?? 1),
      format: 'mp3',
      ...(voice !== undefined && { voice }),
    },
    { signal },
  );
  const name = `${job.id}-0.mp3`;
  await journal.writeImage(name, bytes);
  signal.throwIfAborted();
  return { files: [{ name, contentType, duration }], texts: [], facts: {} };
}

function findVoice(studio: Studio, { input }: Job) {
  return studio.voices().find(({ id }) => id === input['voice'])?.id;
}

function presenterRequest(studio: Studio, job: Job, [image, audio]: readonly Buffer[]): PresenterRequest {
  const { input } = job;
  const text = readText(input['text']);
  const voice = findVoice(studio, job);
  const aspectRatio = readText(input['aspectRatio']);
  const resolution = readText(input['resolution']);
  return {
    prompt: readText(input['prompt']) ?? '',
    ...(image !== undefined && { image }),
    ...(audio !== undefined && { audio }),
    ...(text !== null && { text }),
    ...(voice !== undefined && { voice }),
    ...(aspectRatio !== null && { aspectRatio }),
    ...(resolution !== null && { resolution: Number.parseInt(resolution, 10) }),
  };
}
