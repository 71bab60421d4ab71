import type { HttpClient } from '../../../platform/http/http-client.ts';
import { createArk } from './ark/ark.ts';
import { createComfyui } from './comfyui/comfyui.ts';
import type { Provider } from './contract/provider.ts';
import { createFal } from './fal/fal.ts';
import { createGemini } from './gemini/gemini.ts';
import { createHedra } from './hedra/hedra.ts';
import { createHiggsfield } from './higgsfield/higgsfield.ts';
import { createKling } from './kling/kling.ts';
import { createMidjourney } from './midjourney/midjourney.ts';
import { createMinimax } from './minimax/minimax.ts';
import { createOpenaiCompatible } from './openai/compatible.ts';
import { createOpenai } from './openai/openai.ts';
import { createReplicate } from './replicate/replicate.ts';
import { createStableDiffusionWebui } from './stable-diffusion-webui/stable-diffusion-webui.ts';
import { createVolcengine } from './volcengine/volcengine.ts';

/** Every provider, by name. A new one is a folder, a line here, and its stand-in in sandbox/providers. */
export function createProviders(options: { readonly http: HttpClient }): Readonly<Record<string, Provider>> {
  const all = [
    createMidjourney(options),
    createOpenai(options),
    createOpenaiCompatible(options),
    createMinimax(options),
    createKling(options),
    createGemini(options),
    createComfyui(options),
    createHedra(options),
    createHiggsfield(options),
    createFal(options),
    createReplicate(options),
    createVolcengine(options),
    createStableDiffusionWebui(options),
    createArk(options),
  ];
  return Object.fromEntries(all.map((provider) => [provider.name, provider]));
}
