import { randomBytes } from 'node:crypto';

import { z } from 'zod';

import type { Logger } from '../../../platform/process/logger.ts';
import type { Fault } from '../../faults/faults.ts';
import type { Answer } from '../../http/answer.ts';
import type { Wire, WireRequest } from '../../http/wire.ts';
import { createJobRunner, type JobRunner } from '../../jobs/job-runner.ts';
import type { Job, JobState } from '../../jobs/job.ts';
import type { Journal } from '../../jobs/journal.ts';
import type { LatencyProfile } from '../../jobs/latency-profile.ts';
import { fetched } from '../shared/inputs.ts';
import { toJobFault, type StandIn } from '../shared/stand-in.ts';
import { gatewayError, vod } from './answers.ts';
import { signatureProblem } from './signature.ts';

/** The name of Volcengine's other service in faults, latencies and jobs, and its mount: the storage of videos. */
export const VOLCENGINE_VOD = 'volcengine-vod';

const VERSION = '2020-08-01';
const MAX_VIDEO = 256 * 1024 * 1024;
const VID = 'v02adg10005d';

export interface VodOptions {
  readonly journal: Journal;
  readonly latency: () => LatencyProfile;
  readonly secret: string;
  readonly logger: Logger;
}

/** Videos imported by URL: an import is a job, its video has a Vid. */
export function createVod(options: VodOptions): StandIn {
  const { journal, secret } = options;
  const runner = createJobRunner({
    wire: VOLCENGINE_VOD,
    journal,
    latency: options.latency,
    async perform({ id, input }, signal) {
      const video = await fetched(input['source'], { maxBytes: MAX_VIDEO, signal });
      if (video === null) throw new Error('the source can not be fetched');
      await journal.writeImage(toFileName(id), video);
      signal.throwIfAborted();
      return { files: [{ name: toFileName(id), contentType: 'video/mp4' }], texts: [], facts: {} };
    },
    words: { moderate: 'refused', fail: 'failed' },
    logger: options.logger,
  });
  const wire: Wire = {
    name: VOLCENGINE_VOD,
    mount: 'volcengine-vod',
    authorize: (request) => checkCredentials(request, secret),
    refuse: (status, message) => refuse(null, status, message),
    routes: [
      {
        method: 'POST',
        path: '/UploadMediaByUrl',
        operation: 'upload',
        handle: (request, fault) => upload(runner, request, fault),
      },
      {
        method: 'GET',
        path: '/QueryUploadTaskInfo',
        operation: 'query',
        handle: (request, fault) => query(runner, request, fault),
      },
    ],
  };
  return { wire, runner };
}

/** The bytes of an imported video; null when there is none of that name. */
export async function readVideo({ runner, journal }: VodStore, vid: unknown): Promise<Buffer | null> {
  if (typeof vid !== 'string' || !vid.startsWith(VID)) return null;
  const job = runner.get(vid.slice(VID.length));
  return job?.state === 'finished' ? journal.readImage(toFileName(job.id)) : null;
}

/** Access to imported videos for the visual service. */
export interface VodStore {
  readonly runner: JobRunner;
  readonly journal: Journal;
}

function toFileName(id: string): string {
  return `${id}-0.mp4`;
}

function checkCredentials(request: WireRequest, secret: string) {
  const error = signatureProblem(request, { service: 'vod', secret });
  if (error !== null) return { answer: gatewayError(request, 'vod', { status: 401, error }) };
  const { query: requested } = request;
  const isKnown = requested.get('Version') === VERSION && request.path === '/';
  return { path: isKnown ? `/${requested.get('Action') ?? ''}` : request.path, params: {} };
}

const CODES = {
  404: [100_008, 'InvalidActionOrVersion'],
  413: [100_007, 'ContentTooLong'],
  429: [100_018, 'FlowLimitExceeded'],
  500: [100_014, 'InternalError'],
} as const;

function refuse(request: WireRequest | null, status: keyof typeof CODES, message: string): Answer {
  const [number, code] = CODES[status];
  return gatewayError(request, 'vod', { status, error: { number, code, message } });
}

const jsonText = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue('URLSets is no JSON');
    return z.NEVER;
  }
});

const form = z.object({
  SpaceName: z.string().min(1),
  URLSets: z
    .string()
    .pipe(jsonText)
    .pipe(z.tuple([z.object({ SourceUrl: z.url(), FileExtension: z.string().nullish() })])),
});

async function upload(runner: JobRunner, request: WireRequest, fault: Fault | null): Promise<Answer> {
  const fields = Object.fromEntries(new URLSearchParams(request.body.toString('utf8')));
  const requested = form.safeParse(fields);
  if (!requested.success) {
    const error = {
      number: 100_001,
      code: 'InvalidParameter',
      message: requested.error.issues[0]?.message ?? '',
    };
    return gatewayError(request, 'vod', { status: 400, error });
  }
  const [{ SourceUrl: source }] = requested.data.URLSets;
  const id = randomBytes(10).toString('hex');
  const input = { source, space: requested.data.SpaceName };
  const full = fault?.fault === 'queue-full';
  const job = full
    ? null
    : await runner.submit({
        id,
        operation: 'upload',
        reference: null,
        input,
        fault: toJobFault(fault),
      });
  if (job === null) return refuse(request, 429, 'too many uploads');
  return vod(request, { Data: [{ JobId: id, SourceUrl: source }] });
}

const STATES: Readonly<Record<JobState, string>> = {
  queued: 'init',
  running: 'process',
  finished: 'success',
  failed: 'fail',
  cancelled: 'fail',
};

async function query(runner: JobRunner, request: WireRequest, fault: Fault | null): Promise<Answer> {
  const ids = (request.query.get('JobIds') ?? '').split(',').slice(0, 20);
  const MediaInfoList: object[] = [];
  const NotExistJobIds: string[] = [];
  for (const id of ids) {
    if (fault?.fault === 'lost') await runner.forget(id);
    const job = runner.get(id);
    if (job === null) NotExistJobIds.push(id);
    else MediaInfoList.push(uploadJson(job));
  }
  return vod(request, { Data: { MediaInfoList, NotExistJobIds } });
}

function uploadJson(job: Job): object {
  return {
    RequestId: '',
    JobId: job.id,
    SourceUrl: job.input['source'] ?? '',
    State: STATES[job.state],
    Vid: job.state === 'finished' ? `${VID}${job.id}` : '',
    SpaceName: job.input['space'] ?? '',
    AccountId: 'sandbox',
  };
}
