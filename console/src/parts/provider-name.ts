/** What its vendor calls itself. */
const NAMES: Readonly<Record<string, string>> = {
  ark: 'ModelArk',
  comfyui: 'ComfyUI',
  fal: 'fal',
  gemini: 'Google Gemini',
  hedra: 'Hedra',
  higgsfield: 'Higgsfield',
  kling: 'Kling',
  midjourney: 'Midjourney',
  minimax: 'MiniMax',
  openai: 'OpenAI',
  'openai-compatible': 'OpenAI-compatible',
  replicate: 'Replicate',
  'stable-diffusion-webui': 'Stable Diffusion WebUI',
  volcengine: 'Volcengine',
};

/** The name of a provider for people. */
export function providerName(provider: string): string {
  return NAMES[provider] ?? provider;
}
