import type { Fault } from '../../faults/faults.ts';
import { empty, json, type Answer } from '../../http/answer.ts';
import type { Wire, WireRequest, WireRoute } from '../../http/wire.ts';
import { createJobRunner, type JobRunner } from '../../jobs/job-runner.ts';
import { hasEnded, type Job, type JobResult } from '../../jobs/job.ts';
import { detail } from '../shared/fastapi.ts';
import { readText } from '../shared/inputs.ts';
import { renderImages, inputImages, type MediaTools } from '../shared/perform.ts';
import { createResults } from '../shared/results.ts';
import { authorizeByKey, type WebhookStandInOptions, type StandIn } from '../shared/stand-in.ts';
import { uploadRoutes } from '../shared/uploads.ts';
import { startWebhooks } from '../shared/webhooks.ts';
import {
  startCharacter,
  startSoul,
  type HiggsfieldParts,
  NSFW,
  characterJson,
  requestJson,
} from './start.ts';

/** The name of this wire in faults, latencies and jobs, and its mount. */
export const HIGGSFIELD = 'higgsfield';

export interface HiggsfieldOptions extends WebhookStandInOptions {
  /** When set, the credentials that `Authorization: Key` must carry. */
  readonly secret: string | null;
}

/** Higgsfield's API: characters made from images, images of them, uploaded files. */
export function createHiggsfield(options: HiggsfieldOptions): StandIn {
  const { journal, secret, logger, baseUrl } = options;
  const runner: JobRunner = createJobRunner({
    wire: HIGGSFIELD,
    journal,
    latency: options.latency,
    perform: (job, signal, onPreview) => perform(options, job, signal, onPreview),
    words: { moderate: NSFW, fail: 'Generation failed' },
    logger,
  });
  const results = createResults(journal, runner);
  const parts: HiggsfieldParts = { runner, journal, results };
  startWebhooks({
    runner,
    logger,
    tries: 3,
    readUrl: (job) => job.input['webhook'],
    makePayload: (job) => (hasEnded(job) ? requestJson(job, results, baseUrl()) : null),
  });
  const wire: Wire = {
    name: HIGGSFIELD,
    mount: 'higgsfield',
    authorize: authorizeByKey({
      scheme: 'Key',
      secret,
      isOpen: (path) => OPEN.test(path),
      refusal: () => detail(401, 'Invalid API credentials'),
    }),
    refuse: (status, message) => detail(status, message),
    refuseModel: notFound,
    routes: [results.route, ...fileRoutes(parts), ...characterRoutes(parts), ...soulRoutes(parts)],
  };
  return { wire, runner };
}

/** The URLs of files need no key. */
const OPEN = /^\/(results|upload|files)\/(?!generate-upload-url)/;

/** A header that the address of an upload was signed with. */
const TAG = 'lifetime=temporary';

function fileRoutes(parts: HiggsfieldParts): WireRoute[] {
  return uploadRoutes(parts, {
    begin: '/files/generate-upload-url',
    answer: (id, base) =>
      json({
        upload_url: `${base}/upload/${id}`,
        public_url: `${base}/files/${id}`,
        upload_headers: { 'x-amz-tagging': TAG },
      }),
    signed: { name: 'x-amz-tagging', value: TAG },
  });
}

function characterRoutes(parts: HiggsfieldParts): WireRoute[] {
  return [
    {
      method: 'POST',
      path: '/v1/custom-references',
      operation: 'character',
      handle: (request, fault) => startCharacter(parts, request, fault),
    },
    {
      method: 'GET',
      path: '/v1/custom-references/:id',
      operation: 'characterStatus',
      handle: async (request, fault) => {
        const job = await known(parts.runner, request, { operation: 'character', fault });
        return job === null ? notFound() : json(characterJson(job));
      },
    },
  ];
}

function soulRoutes(parts: HiggsfieldParts): WireRoute[] {
  const { runner, results } = parts;
  return [
    {
      method: 'POST',
      path: '/higgsfield-ai/soul/standard',
      operation: 'soul',
      handle: (request, fault) => startSoul(parts, request, fault),
    },
    {
      method: 'GET',
      path: '/requests/:id/status',
      operation: 'status',
      handle: async (request, fault) => {
        const job = await known(runner, request, { operation: 'soul', fault });
        return job === null ? notFound() : json(requestJson(job, results, request.baseUrl));
      },
    },
    {
      method: 'POST',
      path: '/requests/:id/cancel',
      operation: 'cancel',
      handle: async (request, fault) => {
        const job = await known(runner, request, { operation: 'soul', fault });
        if (job === null) return notFound();
        const isStopped = job.state === 'queued' && (await runner.cancel(job.id));
        return isStopped ? empty(202) : detail(400, 'Request is already in progress');
      },
    },
  ];
}

function notFound(): Answer {
  return detail(404, 'Not found');
}

async function known(
  runner: JobRunner,
  { params }: WireRequest,
  { operation, fault }: { readonly operation: string; readonly fault: Fault | null },
): Promise<Job | null> {
  const { id = '' } = params;
  if (fault?.fault === 'lost') await runner.forget(id);
  const job = runner.get(id);
  return job?.operation === operation ? job : null;
}

/** Renders images, with those of the character blended in; a character itself needs no work. */
async function perform(
  tools: MediaTools,
  { id, operation, input }: Job,
  signal: AbortSignal,
  onPreview: () => void,
): Promise<JobResult> {
  if (operation !== 'soul') return { files: [], texts: [], facts: {} };
  const { seed } = input;
  const request = {
    prompt: readText(input['prompt']) ?? '',
    aspectRatio: readText(input['aspectRatio']) ?? '4:3',
    references: await inputImages(tools.journal, input),
    ...(typeof seed === 'number' && { seed }),
  };
  return renderImages(tools, { id, count: Number(input['count']), onPreview }, request, signal);
}
