import type { Fault } from '../../faults/faults.ts';
import { json, type Answer } from '../../http/answer.ts';
import { jsonObject, type Wire, type WireRequest, type WireRoute } from '../../http/wire.ts';
import { createJobRunner } from '../../jobs/job-runner.ts';
import { readText } from '../shared/inputs.ts';
import { createUrlExpiry } from '../shared/results.ts';
import type { StandIn, StandInOptions } from '../shared/stand-in.ts';
import { endedModel, noKey, refuse, wrongKey } from './errors.ts';
import { createFiles } from './files.ts';
import {
  MODERATED,
  generateContent,
  type GeminiContext,
  generate,
  generatedJson,
  type GeneratedAnswer,
} from './generate.ts';
import { removeInteraction, showInteraction, startInteraction } from './interactions.ts';
import { MODELS, answerTokenCount, modelAnswer } from './models.ts';
import { perform } from './perform.ts';
import { downloadVideo, showOperation, startVideo, type VeoContext } from './veo.ts';

/** The name of this wire in faults, latencies and jobs, and its mount. */
export const GEMINI = 'gemini';

export interface GeminiOptions extends StandInOptions {
  /** The required key; without one any key is accepted, but there must be one. */
  readonly secret: string | null;
}

/**
 * The Gemini API: text by local-rules (no language model), analyses and images and Veo's videos by the studio, files
 * that are PROCESSING before they are ACTIVE, and downloads that need the key.
 */
export function createGemini(options: GeminiOptions): StandIn {
  const { journal } = options;
  const runner = createJobRunner({
    wire: GEMINI,
    journal,
    latency: options.latency,
    perform: (job, signal, onPreview) => perform(options, job, signal, onPreview),
    words: { moderate: MODERATED, fail: 'Internal error. Please try again.' },
    logger: options.logger,
  });
  const files = createFiles({ runner, journal });
  const wire: Wire = {
    name: GEMINI,
    mount: 'gemini',
    refuse,
    refuseModel: (request) =>
      endedModel(request.params['model'] ?? readText(jsonObject(request)?.['model']) ?? ''),
    authorize: (request) => checkCredentials(request, options.secret),
    routes: listRoutes({ runner, journal, files, expiry: createUrlExpiry() }),
  };
  return { wire, runner };
}

/** Checks the key (not for the bytes of an upload, whose URL is unguessable), and makes `:verb` a path segment. */
function checkCredentials(
  { path: requestPath, headers, query }: WireRequest,
  secret: string | null,
): { path: string; params: Record<string, string> } | { answer: Answer } {
  // Newer SDKs say v1 for the same operations.
  const path = requestPath.replace(/^(\/upload)?\/v1\//, '$1/v1beta/');
  if (path === '/upload/v1beta/files' && query.has('upload_id')) return { path: `${path}/bytes`, params: {} };
  const key = headers['x-goog-api-key'] ?? query.get('key');
  if (key === undefined || key === null || key === '') return { answer: noKey() };
  if (secret !== null && key !== secret) return { answer: wrongKey() };
  const routed = path.replace(/:([A-Za-z]+)$/, '/$1');
  // One path at Google, three operations for faults: images, speech and texts.
  const told = routed
    .replace(/-image(-\w+)*\/generateContent$/, '$&/image')
    .replace(/-tts\/generateContent$/, '$&/speech');
  return { path: told, params: {} };
}

type Handler<Context> = (
  context: Context,
  request: WireRequest,
  fault: Fault | null,
) => Promise<Answer> | Answer;

function listRoutes(context: GeminiContext & VeoContext): WireRoute[] {
  const route = (
    [method, path]: readonly [WireRoute['method'], string],
    operation: string,
    handle: Handler<GeminiContext & VeoContext>,
  ): WireRoute => ({
    method,
    path,
    operation,
    handle: (request, fault) => handle(context, request, fault),
  });
  const { files } = context;
  return [
    route(['POST', '/v1beta/models/:model/generateContent'], 'generate', generateContent),
    route(['POST', '/v1beta/models/:model/generateContent/image'], 'image', generateContent),
    route(['POST', '/v1beta/models/:model/generateContent/speech'], 'speech', generateContent),
    route(['POST', '/v1beta/models/:model/streamGenerateContent'], 'stream', streamGenerateContent),
    route(['POST', '/v1beta/models/:model/predictLongRunning'], 'video', startVideo),
    route(['GET', '/v1beta/models/:model/operations/:id'], 'operation', showOperation),
    route(['POST', '/v1beta/interactions'], 'interaction', startInteraction),
    route(['GET', '/v1beta/interactions/:id'], 'interaction-status', showInteraction),
    route(['DELETE', '/v1beta/interactions/:id'], 'interaction-removal', removeInteraction),
    route(['GET', '/v1beta/files/:id/download'], 'download', downloadVideo),
    route(['GET', '/v1beta/models'], 'models', () => json({ models: MODELS })),
    route(['GET', '/v1beta/models/:model'], 'models', (_context, { params }) =>
      modelAnswer(params['model'] ?? ''),
    ),
    route(['POST', '/v1beta/models/:model/countTokens'], 'count', (_context, request) =>
      answerTokenCount(request),
    ),
    route(['GET', '/v1beta/files'], 'files', (_context, request) => files.list(request)),
    route(['DELETE', '/v1beta/files/:id'], 'remove', (_context, request) => files.remove(request)),
    route(['GET', '/v1beta/files/:id'], 'file', (_context, request, fault) => files.show(request, fault)),
    route(['POST', '/upload/v1beta/files'], 'begin-upload', (_context, request) => files.begin(request)),
    route(['POST', '/upload/v1beta/files/bytes'], 'upload', (_context, request, fault) =>
      files.finish(request, fault),
    ),
  ];
}

/**
 * POST /v1beta/models/{model}:streamGenerateContent: with `alt=sse` as events of a few words each, with the finish reason
 * in the last one; without it as one JSON list.
 */
async function streamGenerateContent(
  context: GeminiContext,
  request: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const outcome = await generate(context, request, fault);
  if ('answer' in outcome) {
    const { answer } = outcome;
    // A refused prompt is an answer of the model, sent as an event.
    const { status, body } = answer;
    return status === 200 && typeof body === 'string' ? events(once(JSON.parse(body) as object)) : answer;
  }
  if (request.query.get('alt') !== 'sse') return json([...splitAnswer(outcome)]);
  return events(pause(splitAnswer(outcome)));
}

function events(pieces: AsyncIterable<object>): Answer {
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    body: (async function* () {
      for await (const piece of pieces) yield `data: ${JSON.stringify(piece)}\r\n\r\n`;
    })(),
  };
}

async function* once(piece: object): AsyncGenerator<object> {
  yield await Promise.resolve(piece);
}

/** Yields between chunks, so that they are sent one by one. */
async function* pause(pieces: Iterable<object>): AsyncGenerator<object> {
  for (const piece of pieces) {
    await new Promise((resolve) => setImmediate(resolve));
    yield piece;
  }
}

function* splitAnswer(answer: GeneratedAnswer): Generator<object> {
  for (const part of answer.parts) {
    const words = 'text' in part ? String(part.text).match(/(?:\S*\s*){1,3}/g) : null;
    const pieces = words === null ? [part] : words.filter((text) => text !== '').map((text) => ({ text }));
    for (const piece of pieces) yield generatedJson(answer, { parts: [piece], finishReason: null });
  }
  const last = answer.parts.length === 0 ? [] : [{ text: '' }];
  yield generatedJson(answer, { parts: last, finishReason: answer.finishReason });
}
