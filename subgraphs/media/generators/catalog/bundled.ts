import { catalogPage, type WrittenEntry } from './entry.ts';
import comfyui from './models/comfyui.json' with { type: 'json' };
import fal from './models/fal.json' with { type: 'json' };
import gemini from './models/gemini.json' with { type: 'json' };
import hedra from './models/hedra.json' with { type: 'json' };
import higgsfield from './models/higgsfield.json' with { type: 'json' };
import kling from './models/kling.json' with { type: 'json' };
import midjourney from './models/midjourney.json' with { type: 'json' };
import minimax from './models/minimax.json' with { type: 'json' };
import openaiCompatible from './models/openai-compatible.json' with { type: 'json' };
import openai from './models/openai.json' with { type: 'json' };
import replicate from './models/replicate.json' with { type: 'json' };
import stableDiffusionWebui from './models/stable-diffusion-webui.json' with { type: 'json' };
import volcengine from './models/volcengine.json' with { type: 'json' };

const pages: readonly unknown[] = [
  comfyui,
  fal,
  gemini,
  hedra,
  higgsfield,
  kling,
  midjourney,
  minimax,
  openai,
  openaiCompatible,
  replicate,
  stableDiffusionWebui,
  volcengine,
];

/** The models that come with Kiln, by provider. */
export function bundledModels(): ReadonlyMap<string, readonly WrittenEntry[]> {
  const read = pages.map((page) => catalogPage.parse(page));
  return new Map(read.map(({ provider, models }) => [provider, models]));
}
