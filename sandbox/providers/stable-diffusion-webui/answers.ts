import { empty, json, text, type Answer } from '../../http/answer.ts';

/** The server's own exceptions, and those of the framework behind it. */

/** What the server answers for an exception of its own: HTTPException has a detail, the others a text. */
export function exception(
  status: number,
  {
    error,
    detail = '',
    errors,
  }: { readonly error: string; readonly detail?: string; readonly errors?: string },
): Answer {
  return json({ error, detail, body: '', errors: errors ?? `${status}: ${detail}` }, status);
}

/** A refusal by the server itself. */
export function httpException(status: number, detail: string): Answer {
  return exception(status, { error: 'HTTPException', detail });
}

/** What the framework answers without asking the server. */
export function framework(status: 404 | 413 | 429 | 500, message: string): Answer {
  if (status === 500) return text('Internal Server Error', 500);
  return status === 413 ? empty(413) : json({ detail: status === 404 ? 'Not Found' : message }, status);
}

/** What the server has: its checkpoints and samplers. Behind every one is local-studio. */

/** The checkpoint that is loaded. */
export const LOADED = 'local-studio.safetensors [0f1e2d3c4b]';

const TITLES = [LOADED, 'sketches/other-studio.safetensors [4b3c2d1e0f]'];

/** GET /sdapi/v1/sd-models. */
export const CHECKPOINTS = TITLES.map((title) => {
  const [, name = title, hash = ''] = /([\w-]+)\.safetensors \[(\w+)\]$/.exec(title) ?? [];
  return {
    title,
    model_name: name,
    hash,
    sha256: null,
    filename: `/models/Stable-diffusion/${title.replace(/ \[\w+\]$/, '')}`,
    config: null,
  };
});

/** GET /sdapi/v1/samplers. */
export const SAMPLERS = ['Euler', 'Euler a', 'DPM++ 2M', 'DPM++ SDE', 'DDIM', 'UniPC'].map((name) => ({
  name,
  aliases: [`k_${name.toLowerCase().replaceAll(' ', '_').replaceAll('+', 'p')}`],
  options: {},
}));

/** Whether the server has a checkpoint of this title or name. */
export function isCheckpoint(name: string): boolean {
  return CHECKPOINTS.some(({ title, model_name: model }) => name === title || name === model);
}

/** Whether the server has this sampler. */
export function isSampler(name: string): boolean {
  return SAMPLERS.some((sampler) => sampler.name === name);
}
