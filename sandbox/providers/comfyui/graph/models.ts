/** The model files of this machine, by folder; they are names only, the studio draws for all of them. */
export const MODELS = {
  checkpoints: [
    'v1-5-pruned-emaonly.safetensors',
    'sd_xl_base_1.0.safetensors',
    '512-inpainting-ema.safetensors',
  ],
  diffusion: ['flux1-dev.safetensors', 'qwen_image_fp8_e4m3fn.safetensors'],
  vae: ['ae.safetensors', 'qwen_image_vae.safetensors'],
  clip: ['t5xxl_fp8_e4m3fn.safetensors', 'qwen_2.5_vl_7b_fp8_scaled.safetensors'],
  loras: ['detail.safetensors'],
} as const;

/** ComfyUI's samplers and schedulers. */
export const SAMPLERS = [
  'euler',
  'euler_ancestral',
  'heun',
  'dpm_2',
  'dpm_2_ancestral',
  'lms',
  'dpm_fast',
  'dpm_adaptive',
  'dpmpp_2s_ancestral',
  'dpmpp_sde',
  'dpmpp_2m',
  'dpmpp_2m_sde',
  'dpmpp_3m_sde',
  'ddpm',
  'lcm',
  'res_multistep',
  'ddim',
  'uni_pc',
  'uni_pc_bh2',
] as const;
export const SCHEDULERS = [
  'simple',
  'sgm_uniform',
  'karras',
  'exponential',
  'ddim_uniform',
  'beta',
  'normal',
  'linear_quadratic',
  'kl_optimal',
] as const;
