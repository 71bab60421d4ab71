import type { Fault } from '../../faults/faults.ts';
import { json } from '../../http/answer.ts';
import type { Answer } from '../../http/answer.ts';
import type { Wire, WireRequest, WireRoute } from '../../http/wire.ts';
import { createJobRunner } from '../../jobs/job-runner.ts';
import type { Job, JobResult } from '../../jobs/job.ts';
import { StudioError } from '../../studio/types/media-types.ts';
import type { PresenterRequest } from '../../studio/types/media-types.ts';
import type { Studio } from '../../studio/types/studio.ts';
import { detail } from '../shared/fastapi.ts';
import { textOf } from '../shared/inputs/text-of.ts';
import { inputPictures } from '../shared/perform.ts';
import type { MediaTools } from '../shared/perform.ts';
import { createResults } from '../shared/results.ts';
import type { StandIn, StandInOptions } from '../shared/stand-in.ts';
import { assetRoutes } from './assets.ts';
import { generate } from './generate.ts';
import type { HedraParts } from './generate.ts';
import { INVALID, MODERATED, generationJson } from './generation-json.ts';
import { voicesOf } from './voices.ts';

/** The name of this wire in faults, latencies and jobs, and its mount. */
export const HEDRA = 'hedra';

export interface HedraOptions extends StandInOptions {
  /** When set, the key that `X-API-Key` must carry. */
  readonly secret: string | null;
}

/** Hedra's API: assets, voices, and videos of talking pictures. It has no cancel. */
export function createHedra(options: HedraOptions): StandIn {
  const { studio, journal, secret } = options;
  const runner = createJobRunner({
    wire: HEDRA,
    journal,
    latency: options.latency,
    perform: (job, signal) => perform(options, job, signal),
    words: { moderate: MODERATED, fail: 'Internal error, please try again' },
    logger: options.logger,
  });
  const parts: HedraParts = { studio, runner, journal, results: createResults(journal, runner) };
  const wire: Wire = {
    name: HEDRA,
    mount: 'hedra',
    authorize: (request) => checkCredentials(request, secret),
    refuse: (status, message) => detail(status, message),
    routes: [parts.results.route, ...assetRoutes(parts), ...generationRoutes(parts)],
  };
  return { wire, runner };
}

/** Checks the key; the URLs of files need none. */
const OPEN = /^\/(results|upload)\//;

function checkCredentials({ path, headers }: WireRequest, secret: string | null) {
  const credential = headers['x-api-key'];
  const isIn = secret === null ? credential !== undefined : credential === secret;
  return isIn || OPEN.test(path) ? { path, params: {} } : { answer: detail(401, 'Invalid API key') };
}

function generationRoutes(parts: HedraParts): WireRoute[] {
  return [
    {
      method: 'POST',
      path: '/web-app/public/generations',
      operation: 'generate',
      handle: (request, fault) => generate(parts, request, fault),
    },
    {
      method: 'GET',
      path: '/web-app/public/generations/:id/status',
      operation: 'status',
      handle: (request, fault) => status(parts, request, fault),
    },
    {
      method: 'GET',
      path: '/web-app/public/voices',
      operation: 'voices',
      handle: () =>
        json(
          voicesOf(parts.studio).map(({ wireId, name }) => ({
            id: wireId,
            type: 'voice',
            name,
            created_at: '2025-01-01T00:00:00Z',
            asset: { type: 'voice' },
          })),
        ),
    },
  ];
}

async function status(
  { runner, results }: HedraParts,
  request: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const { id = '' } = request.params;
  if (fault?.fault === 'lost') await runner.forget(id);
  const job = runner.get(id);
  if (job?.operation !== 'generate') return detail(404, 'Generation not found');
  const url = results.urlOf(job, request.baseUrl);
  return json(generationJson(job, { url, percent: runner.progressOf(job) }));
}

/** Renders the talking picture; an asset needs no work. */
async function perform({ studio, journal }: MediaTools, job: Job, signal: AbortSignal): Promise<JobResult> {
  if (job.operation !== 'generate') return { files: [], texts: [], facts: {} };
  try {
    const { bytes, contentType, width, height, duration } = await studio.presenter(
      presenterRequest(studio, job, await inputPictures(journal, job.input)),
      { signal },
    );
    const name = `${job.id}-0.mp4`;
    await journal.writePicture(name, bytes);
    signal.throwIfAborted();
    return { files: [{ name, contentType, width, height, duration }], texts: [], facts: {} };
  } catch (error) {
    if (!(error instanceof StudioError)) throw error;
    throw new Error(`${INVALID}${error.message}`, { cause: error });
  }
}

function presenterRequest(
  studio: Studio,
  { input }: Job,
  [picture, audio]: readonly Buffer[],
): PresenterRequest {
  const text = textOf(input['text']);
  const voice = studio.voices().find(({ id }) => id === input['voice'])?.id;
  const aspectRatio = textOf(input['aspectRatio']);
  const resolution = textOf(input['resolution']);
  return {
    prompt: textOf(input['prompt']) ?? '',
    ...(picture !== undefined && { picture }),
    ...(audio !== undefined && { audio }),
    ...(text !== null && { text }),
    ...(voice !== undefined && { voice }),
    ...(aspectRatio !== null && { aspectRatio }),
    ...(resolution !== null && { resolution: Number.parseInt(resolution, 10) }),
  };
}
