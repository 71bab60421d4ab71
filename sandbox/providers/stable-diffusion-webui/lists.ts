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
