import { randomUUID } from 'node:crypto';

import type { Fault } from '../../faults/faults.ts';
import { bytes, json, text, type Answer } from '../../http/answer.ts';
import { jsonObject, type Wire, type WireRequest, type WireRoute } from '../../http/wire.ts';
import { createJobRunner } from '../../jobs/job-runner.ts';
import { readText } from '../shared/inputs.ts';
import { createUrlExpiry } from '../shared/results.ts';
import type { StandIn, StandInOptions } from '../shared/stand-in.ts';
import { batchRoutes, performBatch } from './batches.ts';
import { chat } from './chat.ts';
import { refuse, wrongKey } from './errors.ts';
import { editImages, generateImages } from './images.ts';
import { endedModel, MODELS, noModel } from './models.ts';
import { perform } from './perform.ts';
import { speak } from './speech.ts';
import { MODERATED, type OpenaiContext } from './start.ts';
import { deleteVideo, listVideos, remixVideo, showVideo, startVideo, videoContent } from './videos.ts';

/** The name of this wire in faults, latencies and jobs, and its mount. */
export const OPENAI = 'openai';

export interface OpenaiOptions extends StandInOptions {
  /** The required `Authorization: Bearer`. */
  readonly secret: string | null;
}

/** The OpenAI wire: chat (local-rules, no language model), images, speech and videos (local-studio), models. */
export function createOpenai(options: OpenaiOptions): StandIn {
  const runner = createJobRunner({
    wire: OPENAI,
    journal: options.journal,
    latency: options.latency,
    perform: (job, signal, onPreview) =>
      job.operation === 'batch'
        ? performBatch(options, job, signal)
        : perform(options, job, signal, onPreview),
    words: { moderate: MODERATED, fail: 'The server had an error while processing your request.' },
    logger: options.logger,
  });
  const wire: Wire = {
    name: OPENAI,
    mount: 'openai',
    headers: () => ({
      'x-request-id': `req_${randomUUID().replaceAll('-', '')}`,
      'openai-version': '2020-10-01',
    }),
    refuse,
    refuseModel: (request) => endedModel(readText(jsonObject(request)?.['model']) ?? 'of this request'),
    authorize: ({ path, headers }) => {
      const isLet = options.secret === null || headers['authorization'] === `Bearer ${options.secret}`;
      return isLet || path.startsWith('/results/') ? { path, params: {} } : { answer: wrongKey() };
    },
    routes: listRoutes({ runner, journal: options.journal, expiry: createUrlExpiry(), starting: new Map() }),
  };
  return { wire, runner };
}

function listRoutes(context: OpenaiContext): WireRoute[] {
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
    post(context, { path: '/v1/chat/completions', operation: 'chat', handle: chat }),
    post(context, { path: '/v1/images/generations', operation: 'images', handle: generateImages }),
    post(context, { path: '/v1/images/edits', operation: 'edits', handle: editImages }),
    post(context, { path: '/v1/audio/speech', operation: 'speech', handle: speak }),
    ...batchRoutes(context),
    post(context, { path: '/v1/videos', operation: 'videos', handle: startVideo }),
    post(context, { path: '/v1/videos/:id/remix', operation: 'remix', handle: remixVideo }),
    {
      method: 'GET',
      path: '/v1/videos',
      operation: 'list-videos',
      handle: (request) => listVideos(context, request),
    },
    {
      method: 'DELETE',
      path: '/v1/videos/:id',
      operation: 'delete-video',
      handle: (request) => deleteVideo(context, request),
    },
    {
      method: 'GET',
      path: '/v1/videos/:id',
      operation: 'video',
      handle: (request, fault) => showVideo(context, request, fault),
    },
    {
      method: 'GET',
      path: '/v1/videos/:id/content',
      operation: 'content',
      handle: (request) => videoContent(context, request),
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

interface Posted {
  readonly path: string;
  readonly operation: string;
  readonly handle: (context: OpenaiContext, request: WireRequest, fault: Fault | null) => Promise<Answer>;
}

function post(context: OpenaiContext, { path, operation, handle }: Posted): WireRoute {
  return { method: 'POST', path, operation, handle: (request, fault) => handle(context, request, fault) };
}

function modelAnswer(id: string) {
  const model = MODELS.find((known) => known.id === id);
  return model === undefined ? noModel(id) : json(model);
}

async function download({ runner, journal, expiry }: OpenaiContext, { params }: WireRequest) {
  const { id = '', edition = '', name = '' } = params;
  const file = runner.get(id)?.result?.files.find((other) => other.name === name);
  const isGood = file !== undefined && edition === String(expiry.currentVersion(id));
  const image = isGood ? await journal.readImage(name) : null;
  if (file === undefined || image === null) return text('This link has expired.', 403);
  return bytes(image, file.contentType);
}
