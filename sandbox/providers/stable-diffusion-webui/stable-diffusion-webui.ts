import { json, type Answer } from '../../http/answer.ts';
import { type Wire, type WireRequest, type WireRoute, jsonObject } from '../../http/wire.ts';
import { createJobRunner, type JobRunner } from '../../jobs/job-runner.ts';
import type { Job } from '../../jobs/job.ts';
import { readText } from '../shared/inputs.ts';
import { withMask } from '../shared/mask.ts';
import { renderImages, inputImages, type Perform } from '../shared/perform.ts';
import type { StandIn, StandInOptions } from '../shared/stand-in.ts';
import { framework, httpException, CHECKPOINTS, LOADED, SAMPLERS } from './answers.ts';
import { generate } from './generate.ts';

/** The name of this wire in faults, latencies and jobs, and its mount. */
export const STABLE_DIFFUSION_WEBUI = 'stable-diffusion-webui';

export interface StableDiffusionWebuiOptions extends StandInOptions {
  /** When set, the password that Basic authentication must carry, for any user. */
  readonly secret: string | null;
}

/** Stable Diffusion web UI with `--api`: one call per image or batch, one at a time, with progress and interrupt. */
export function createStableDiffusionWebui(options: StableDiffusionWebuiOptions): StandIn {
  const { journal, secret, logger } = options;
  const runner = createJobRunner({
    wire: STABLE_DIFFUSION_WEBUI,
    journal,
    latency: options.latency,
    perform: (job, signal, onPreview) => perform(options, job, signal, onPreview),
    words: { moderate: 'this server moderates nothing', fail: 'CUDA error: an illegal memory access' },
    logger,
  });
  const wire: Wire = {
    name: STABLE_DIFFUSION_WEBUI,
    mount: STABLE_DIFFUSION_WEBUI,
    headers: () => ({ 'x-process-time': '0.0001' }),
    authorize: (request) => checkCredentials(request, secret),
    refuse: framework,
    routes: [
      ...(['txt2img', 'img2img'] as const).map((operation): WireRoute => ({
        method: 'POST',
        path: `/sdapi/v1/${operation}`,
        operation,
        handle: (request, fault) => generate({ runner, journal }, operation, request, fault),
      })),
      ...progressRoutes(runner),
      list('sd-models', CHECKPOINTS),
      list('samplers', SAMPLERS),
      list('options', { sd_model_checkpoint: LOADED, samples_format: 'png' }),
    ],
  };
  return { wire, runner };
}

function list(name: string, value: unknown): WireRoute {
  return { method: 'GET', path: `/sdapi/v1/${name}`, operation: name, handle: () => json(value) };
}

function checkCredentials(
  { path, headers }: WireRequest,
  secret: string | null,
): { path: string; params: Record<string, string> } | { answer: Answer } {
  const [, encoded = ''] = /^Basic (.+)$/.exec(headers['authorization'] ?? '') ?? [];
  const [, ...password] = Buffer.from(encoded, 'base64').toString('utf8').split(':');
  if (secret === null || password.join(':') === secret) return { path, params: {} };
  return { answer: httpException(401, 'Incorrect username or password') };
}

/** Renders the images of a job, one seed after the other. */
const perform: Perform = async (tools, job, signal, onPreview) => {
  const { id, input } = job;
  const images = await inputImages(tools.journal, input);
  const mask = input['hasMask'] === true ? images.pop() : undefined;
  const request = {
    prompt: readText(input['prompt']) ?? '',
    size: { width: Number(input['width']), height: Number(input['height']) },
    seed: Number(input['seed']),
    references: images,
  };
  const masked = withMask(tools, { image: images[0], mask });
  return renderImages(masked, { id, count: Number(input['count']), onPreview }, request, signal);
};

/** What the server does now: of the task that runs, and of one task by its id. */
function progressRoutes(runner: JobRunner): WireRoute[] {
  return [
    {
      method: 'GET',
      path: '/sdapi/v1/progress',
      operation: 'progress',
      handle: () => overall(runner),
    },
    {
      method: 'POST',
      path: '/internal/progress',
      operation: 'internalProgress',
      handle: (request) => ofTask(runner, request),
    },
    {
      method: 'POST',
      path: '/sdapi/v1/interrupt',
      operation: 'interrupt',
      async handle() {
        const job = findRunning(runner);
        if (job !== null) await runner.cancel(job.id);
        return json({});
      },
    },
  ];
}

function findRunning(runner: JobRunner): Job | null {
  return runner.list().find(({ state }) => state === 'running') ?? null;
}

function overall(runner: JobRunner): Answer {
  const job = findRunning(runner);
  const percent = job === null ? 0 : runner.readProgress(job);
  const steps = Number(job?.input['steps'] ?? 0);
  return json({
    progress: percent / 100,
    eta_relative: 0,
    state: {
      skipped: false,
      interrupted: false,
      job: job === null ? '' : 'scripts_txt2img',
      job_count: job === null ? 0 : 1,
      job_no: 0,
      sampling_step: Math.round((steps * percent) / 100),
      sampling_steps: steps,
    },
    current_image: null,
    textinfo: null,
    // The real one's is null, too: it is read before any task begins.
    current_task: null,
  });
}

function ofTask(runner: JobRunner, request: WireRequest): Answer {
  const id = readText(jsonObject(request)?.['id_task']);
  const job = runner.list().find(({ reference }) => id !== null && reference === id);
  const isActive = job?.state === 'running';
  return json({
    active: isActive,
    queued: job?.state === 'queued',
    paused: false,
    completed: job?.state === 'finished',
    progress: isActive ? runner.readProgress(job) / 100 : null,
    eta: null,
    live_preview: null,
    id_live_preview: -1,
    textinfo: isActive ? null : job?.state === 'queued' ? 'Queued...' : 'Waiting...',
  });
}
