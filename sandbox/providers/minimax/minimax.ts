import { randomUUID } from 'node:crypto';

import { json, type Answer } from '../../http/answer.ts';
import { jsonObject, type Wire, type WireRequest, type WireRoute } from '../../http/wire.ts';
import { createJobRunner, type JobRunner } from '../../jobs/job-runner.ts';
import { readText } from '../shared/inputs.ts';
import { createResults } from '../shared/results.ts';
import type { StandIn, StandInOptions } from '../shared/stand-in.ts';
import { isStateChange, startWebhooks } from '../shared/webhooks.ts';
import { FAILED, MODERATED, refusal } from './answers.ts';
import type { MinimaxParts } from './parts.ts';
import { perform } from './perform.ts';
import { synthesize } from './speech.ts';
import { queryVideoOfVersion2, removeVideoOfVersion2, startVideoOfVersion2, taskBody } from './videos-v2.ts';
import { queryVideo, retrieveFile, startVideo, videoAnswer } from './videos.ts';
import { cloneVoice, getVoices, uploadFile } from './voices.ts';

/** The name of this wire in faults, latencies and jobs, and its mount. */
export const MINIMAX = 'minimax';

export interface MinimaxOptions extends StandInOptions {
  /** When set, the key that `Authorization: Bearer` must carry. */
  readonly secret: string | null;
}

/** The MiniMax wire: v1 for videos, speech, samples and clones of voices, with HTTP 200 for errors too; v2 for the videos of MiniMax-H3. */
export function createMinimax(options: MinimaxOptions): StandIn {
  const { journal, studio, secret } = options;
  const runner: JobRunner = createJobRunner({
    wire: MINIMAX,
    journal,
    latency: options.latency,
    perform: (job, signal) => perform({ studio, journal, runner }, job, signal),
    words: { moderate: MODERATED, fail: FAILED },
    logger: options.logger,
  });
  const results = createResults(journal, runner);
  sendCallbacks(options, runner);
  const wire: Wire = {
    name: MINIMAX,
    mount: 'minimax',
    authorize: (request) => checkCredentials(request, secret),
    refuse: (status, message) =>
      json({ type: 'error', error: { message, http_code: String(status) } }, status),
    // Unknown or ended, and not in the account's plan, have codes of their own.
    refuseModel: (request) =>
      refusal(2013, `unknown model '${readText(jsonObject(request)?.['model']) ?? ''}'`),
    routes: [...listRoutes({ runner, journal, results }), results.route],
  };
  return { wire, runner };
}

/** Starts the unsigned webhooks at each change of a video's state, to URLs that echo a challenge. */
function sendCallbacks({ logger }: MinimaxOptions, runner: JobRunner): void {
  startWebhooks({
    runner,
    logger,
    tries: 3,
    verify: echoes,
    readUrl: (job) => job.input['callbackUrl'],
    makePayload(job) {
      if (!isStateChange(job, runner)) return null;
      if (job.operation === 'videoV2') return taskBody(job, null);
      const { body } = videoAnswer(job);
      return typeof body === 'string' ? (JSON.parse(body) as object) : null;
    },
  });
}

const CHALLENGE_TIMEOUT_MS = 3_000;

async function echoes(hook: URL): Promise<boolean> {
  const challenge = randomUUID();
  try {
    const answer = await fetch(hook, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ challenge }),
      redirect: 'manual',
      signal: AbortSignal.timeout(CHALLENGE_TIMEOUT_MS),
    });
    const echoed = (await answer.json()) as { challenge?: unknown };
    return echoed.challenge === challenge;
  } catch {
    return false; // unreachable, too slow, or no JSON: no webhook is sent there
  }
}

function checkCredentials(
  { path, headers }: WireRequest,
  secret: string | null,
): { path: string; params: Record<string, string> } | { answer: Answer } {
  const credential = headers['authorization'];
  if (path.startsWith('/results/')) return { path, params: {} };
  if (credential === undefined) return { answer: refusal(1004) };
  return secret === null || credential === `Bearer ${secret}`
    ? { path, params: {} }
    : { answer: refusal(2049) };
}

function listRoutes(parts: MinimaxParts): WireRoute[] {
  const post = (path: string, operation: string, handle: Handler): WireRoute => ({
    method: 'POST',
    path,
    operation,
    handle: (request, fault) => handle(parts, request, fault),
  });
  const get = (path: string, operation: string, handle: Handler): WireRoute => ({
    ...post(path, operation, handle),
    method: 'GET',
  });
  return [
    post('/v1/video_generation', 'video', startVideo),
    get('/v1/query/video_generation', 'query', queryVideo),
    post('/v2/video_generation', 'videoV2', startVideoOfVersion2),
    get('/v2/query/video_generation/:id', 'queryV2', queryVideoOfVersion2),
    { ...post('/v2/video_generation/:id', 'deleteV2', removeVideoOfVersion2), method: 'DELETE' },
    get('/v1/files/retrieve', 'retrieve', retrieveFile),
    post('/v1/t2a_v2', 'speech', synthesize),
    post('/v1/files/upload', 'upload', uploadFile),
    post('/v1/voice_clone', 'clone', cloneVoice),
    post('/v1/get_voice', 'voices', getVoices),
  ];
}

type Handler = (
  parts: MinimaxParts,
  ...requested: Parameters<WireRoute['handle']>
) => ReturnType<WireRoute['handle']>;
