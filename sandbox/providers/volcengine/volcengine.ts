import type { Fault } from '../../faults/faults.ts';
import type { Answer } from '../../http/answer.ts';
import { jsonObject, type Wire, type WireRequest, type WireRoute } from '../../http/wire.ts';
import { createJobRunner, type JobRunner } from '../../jobs/job-runner.ts';
import type { Job } from '../../jobs/job.ts';
import type { LatencyProfile } from '../../jobs/latency-profile.ts';
import { readText } from '../shared/inputs.ts';
import { newNumericId } from '../shared/numeric-id.ts';
import { createResults, type Results } from '../shared/results.ts';
import { findBannedWord } from '../shared/rules/text.ts';
import { toJobFault, type StandIn, type StandInOptions } from '../shared/stand-in.ts';
import {
  BROKEN,
  CONCURRENCY,
  CONTENT,
  INTERNAL,
  LIMIT,
  NOT_OPENED,
  gatewayError,
  visual,
  visualError,
  findService,
  type ServiceName,
} from './answers.ts';
import { perform } from './perform.ts';
import { signatureProblem } from './signature.ts';
import { createVod } from './vod.ts';

/** The name of this wire in faults, latencies and jobs, and its mount: the visual service. */
export const VOLCENGINE = 'volcengine';

const VERSION = '2022-08-31';
/** The caller's default secret key, for verifying signatures. */
const SECRET = 'sandbox-secret-key';

export interface VolcengineOptions extends StandInOptions {
  /** The latency of the storage of videos. */
  readonly vodLatency: () => LatencyProfile;
  readonly secret: string | null;
}

/** Volcengine's visual service and its storage of videos. Neither has a cancel, nor a field for a reference. */
export function createVolcengine(options: VolcengineOptions): StandIn[] {
  const { studio, journal, logger } = options;
  const secret = options.secret ?? SECRET;
  const vod = createVod({ journal, latency: options.vodLatency, secret, logger });
  const store = { runner: vod.runner, journal };
  const runner: JobRunner = createJobRunner({
    wire: VOLCENGINE,
    journal,
    latency: options.latency,
    perform: (job, signal) =>
      perform({ studio, journal, vod: store, findTraining: (id) => findTraining(runner, id) }, job, signal),
    words: { moderate: CONTENT, fail: BROKEN },
    logger,
  });
  const results = createResults(journal, runner);
  const wire: Wire = {
    name: VOLCENGINE,
    mount: 'volcengine',
    authorize: (request) => checkCredentials(request, secret),
    refuse: (status, message) => refuse(status, message),
    refuseModel: () => visualError(NOT_OPENED),
    routes: [results.route, ...submitRoutes(runner), resultRoute(runner, results)],
  };
  return [{ wire, runner }, vod];
}

function findTraining(runner: JobRunner, resource: unknown): Job | null {
  const isIt = ({ operation, state, input }: Job) =>
    operation === 'train' && state === 'finished' && input['resource'] === resource;
  return runner.list().find(isIt) ?? null;
}

/** One path for everything: the action is in the query, the service in the body. Results need no signature. */
function checkCredentials(request: WireRequest, secret: string) {
  if (request.path.startsWith('/results/')) return { path: request.path, params: {} };
  const error = signatureProblem(request, { service: 'cv', secret });
  if (error !== null) return { answer: gatewayError(request, 'cv', { status: 401, error }) };
  const action = request.query.get('Action') ?? '';
  const isKnown = request.path === '/' && request.query.get('Version') === VERSION;
  if (!isKnown) return { path: request.path, params: {} };
  const service = findService(jsonObject(request)?.['req_key']);
  if (service === null) return { answer: visualError('50200 Invalid req_key') };
  return { path: action === 'CVSubmitTask' ? `/${action}/${service.name}` : `/${action}`, params: {} };
}

function refuse(status: 404 | 413 | 429 | 500, message: string): Answer {
  if (status === 429) return visualError(LIMIT);
  if (status === 500) return visualError(INTERNAL);
  const error = { number: 100_008, code: 'InvalidActionOrVersion', message };
  return gatewayError(null, 'cv', { status, error });
}

function submitRoutes(runner: JobRunner): WireRoute[] {
  const names: readonly ServiceName[] = ['detect', 'humanVideo', 'train', 'talk'];
  return names.map((name) => ({
    method: 'POST',
    path: `/CVSubmitTask/${name}`,
    operation: name,
    handle: (request, fault) => submit(runner, request, fault),
  }));
}

async function submit(runner: JobRunner, request: WireRequest, fault: Fault | null): Promise<Answer> {
  const body = jsonObject(request);
  const key = readText(body?.['req_key']) ?? '';
  const service = findService(key);
  const requested = service?.read.safeParse(body);
  if (service === null || requested?.success !== true) {
    const [issue] = requested?.error?.issues ?? [];
    return visualError(`50200 Invalid parameter ${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`);
  }
  if (fault?.fault === 'moderation') return visualError(CONTENT);
  if (fault?.fault === 'queue-full') return visualError(CONCURRENCY);
  if (findBannedWord(readText(requested.data['prompt']) ?? '') !== null)
    return visualError('50412 Text Risk Not Pass');
  const job = await runner.submit({
    id: newNumericId('7', 19),
    operation: service.name,
    reference: null,
    input: { ...requested.data, key },
    fault: toJobFault(fault),
  });
  return job === null ? visualError(CONCURRENCY) : visual({ task_id: job.id });
}

function resultRoute(runner: JobRunner, results: Results): WireRoute {
  return {
    method: 'POST',
    path: '/CVGetResult',
    operation: 'result',
    async handle(request, fault) {
      const body = jsonObject(request);
      const id = readText(body?.['task_id']) ?? '';
      if (fault?.fault === 'lost') await runner.forget(id);
      const job = runner.get(id);
      if (job === null || job.input['key'] !== body?.['req_key']) return visual({ status: 'not_found' });
      if (job.state === 'failed') return visualError(job.failure ?? BROKEN);
      return visual(taskJson(job, results.toUrl(job, request.baseUrl)));
    },
  };
}

/** A cloned avatar's video is inside `resp_data`, OmniHuman's beside it. */
function taskJson({ state, operation, result }: Job, url: string | null): object {
  if (state !== 'finished') return { status: state === 'queued' ? 'in_queue' : 'generating' };
  const facts =
    operation === 'talk' ? { code: 0, msg: 'success', progress: 100, vid: { url } } : result?.facts;
  const isOmni = operation === 'humanVideo';
  return {
    status: 'done',
    binary_data_base64: [],
    image_urls: null,
    resp_data: isOmni ? '' : JSON.stringify(facts ?? {}),
    ...(isOmni && { video_url: url }),
  };
}
