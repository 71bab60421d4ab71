import { setTimeout as pause } from 'node:timers/promises';

import { json } from '../../http/answer.ts';
import type { Answer } from '../../http/answer.ts';
import type { WireRequest } from '../../http/wire.ts';
import { hasEnded } from '../../jobs/job.ts';
import type { Job } from '../../jobs/job.ts';
import { predictionJson } from './prediction-json.ts';
import { problem } from './start.ts';
import type { ReplicateParts } from './start.ts';

const PAGE = 100;
const PAUSE_MS = 50;

/** GET /v1/predictions: newest first, in pages of a hundred. */
export function listPredictions(parts: ReplicateParts, { query, baseUrl }: WireRequest): Answer {
  const from = Number(query.get('cursor') ?? 0) || 0;
  const all = parts.runner.list().filter(({ operation }) => operation !== 'file');
  const pageAt = (start: number) => `${baseUrl}/v1/predictions?cursor=${start}`;
  return json({
    next: from + PAGE < all.length ? pageAt(from + PAGE) : null,
    previous: from === 0 ? null : pageAt(Math.max(0, from - PAGE)),
    results: all.slice(from, from + PAGE).map((job) => predictionJson(parts, job, baseUrl)),
  });
}

/** GET of a prediction's stream: its output as server-sent events when it has ended. */
export function streamPrediction(parts: ReplicateParts, job: Job, request: WireRequest): Answer {
  if (!(request.headers['accept'] ?? '').includes('text/event-stream')) {
    return problem(406, 'Not Acceptable', 'This resource is only available as text/event-stream');
  }
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream; charset=utf-8' },
    body: events(parts, job.id, request),
  };
}

async function* events(parts: ReplicateParts, id: string, request: WireRequest): AsyncGenerator<string> {
  while (!request.signal.aborted) {
    const job = parts.runner.get(id);
    if (job === null) return;
    if (hasEnded(job)) {
      const { output, error, status } = predictionJson(parts, job, request.baseUrl) as Record<
        string,
        unknown
      >;
      const event = (name: string, data: string) => `event: ${name}\nid: ${Date.now()}:0\ndata: ${data}\n\n`;
      if (status === 'failed') yield event('error', JSON.stringify({ detail: error }));
      const urls: readonly unknown[] = Array.isArray(output) ? output : [output];
      for (const one of urls) if (typeof one === 'string') yield event('output', one);
      yield event('done', JSON.stringify(status === 'canceled' ? { reason: 'canceled' } : {}));
      return;
    }
    await pause(PAUSE_MS, undefined, { signal: request.signal }).catch(() => undefined);
  }
}
