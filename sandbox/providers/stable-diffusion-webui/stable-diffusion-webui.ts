import { json } from '../../http/answer.ts';
import type { Answer } from '../../http/answer.ts';
import type { Wire, WireRequest, WireRoute } from '../../http/wire.ts';
import { createJobRunner } from '../../jobs/job-runner.ts';
import type { StandIn, StandInOptions } from '../shared/stand-in.ts';
import { framework, httpException } from './answers.ts';
import { generate } from './generate.ts';
import { CHECKPOINTS, LOADED, SAMPLERS } from './lists.ts';
import { perform } from './perform.ts';
import { progressRoutes } from './progress.ts';

/** The name of this wire in faults, latencies and jobs, and its mount. */
export const STABLE_DIFFUSION_WEBUI = 'stable-diffusion-webui';

export interface StableDiffusionWebuiOptions extends StandInOptions {
  /** When set, the password that Basic authentication must carry, for any user. */
  readonly secret: string | null;
}

/** Stable Diffusion web UI with `--api`: one call per picture or batch, one at a time, with progress and interrupt. */
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
