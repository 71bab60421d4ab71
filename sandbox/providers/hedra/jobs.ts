import { setTimeout as pause } from 'node:timers/promises';

import type { Fault } from '../../faults/faults.ts';
import { json, type Answer } from '../../http/answer.ts';
import type { WireRequest, WireRoute } from '../../http/wire.ts';
import { hasEnded, type Job } from '../../jobs/job.ts';
import { refusal } from './errors.ts';
import { toResult, toStatus, voiceName, listVoices } from './job-json.ts';
import type { HedraParts } from './parts.ts';
import { submit, type Model } from './submit.ts';

const MODELS: readonly Model[] = [
  { id: 'hedra-avatar', kind: 'avatar', operation: 'submit' },
  { id: 'hedra-character-3', kind: 'avatar', operation: 'submit' },
  { id: 'elevenlabs-v3', kind: 'speech', operation: 'speech' },
];

/** v3's models, voices and jobs. */
export function jobRoutes(parts: HedraParts): WireRoute[] {
  const submissions = MODELS.map((model): WireRoute => ({
    method: 'POST',
    path: `/v3/models/${model.id}`,
    operation: model.operation,
    handle: (request, fault) => submit(parts, model, request, fault),
  }));
  return [
    ...submissions,
    {
      method: 'POST',
      path: '/v3/models/:model',
      operation: 'submit',
      handle: () => refusal(404, 'NOT_FOUND', { message: 'Model not found.' }),
    },
    {
      method: 'GET',
      path: '/v3/models/elevenlabs-v3/voices',
      operation: 'modelVoices',
      handle: () => json({ data: listVoices(parts.studio).map(voiceJson), next_cursor: null }),
    },
    jobRoute(parts, { path: '/v3/jobs/:id/status', operation: 'jobStatus' }, (job) =>
      json(toStatus(parts, job)),
    ),
    jobRoute(parts, { path: '/v3/jobs/:id', operation: 'job' }, (job, { baseUrl }) =>
      json(toResult(parts, job, baseUrl)),
    ),
    jobRoute(parts, { path: '/v3/jobs/:id/stream', operation: 'stream' }, (job, request) => ({
      status: 200,
      headers: { 'content-type': 'text/event-stream; charset=utf-8' },
      body: follow(parts, job.id, request),
    })),
  ];
}

function voiceJson(voice: ReturnType<typeof listVoices>[number]): object {
  return { id: voiceName(voice), name: voice.name, preview_url: null, labels: { language: 'en' } };
}

function jobRoute(
  { runner }: HedraParts,
  route: Pick<WireRoute, 'path' | 'operation'>,
  show: (job: Job, request: WireRequest) => Answer,
): WireRoute {
  return {
    ...route,
    method: 'GET',
    async handle(request: WireRequest, fault: Fault | null) {
      const { id = '' } = request.params;
      if (fault?.fault === 'lost') await runner.forget(id);
      const job = id.startsWith('job_') ? runner.get(id) : null;
      return job === null ? refusal(404, 'NOT_FOUND', { message: 'Job not found.' }) : show(job, request);
    },
  };
}

const STREAM_PAUSE_MS = 100;

/** Streams the status at each change, then `done`. */
async function* follow(parts: HedraParts, id: string, { signal }: WireRequest): AsyncGenerator<string> {
  let last = '';
  for (let number = 1; !signal.aborted;) {
    const job = parts.runner.get(id);
    if (job === null) return;
    const data = JSON.stringify(toStatus(parts, job));
    if (data !== last) {
      yield `id: ${number}\nevent: status\ndata: ${data}\n\n`;
      number += 1;
    }
    last = data;
    if (hasEnded(job)) {
      yield 'event: done\ndata: [STREAM_DONE]\n\n';
      return;
    }
    await pause(STREAM_PAUSE_MS, undefined, { signal, ref: false }).catch(() => undefined);
  }
}
