import { comfyui } from './comfyui.ts';
import { fal } from './fal.ts';
import { gemini } from './gemini.ts';
import { hedra, hedraWebApp } from './hedra.ts';
import { higgsfield } from './higgsfield.ts';
import { kling } from './kling.ts';
import { midjourney } from './midjourney.ts';
import { minimax } from './minimax.ts';
import { openai } from './openai.ts';
import { replicate } from './replicate.ts';
import type { ContractRow } from './row.ts';
import { stableDiffusionWebui } from './stable-diffusion-webui.ts';
import { volcengine } from './volcengine.ts';

/** Every provider that there is. A new one is a file in rows/, a line here, its fixture, and its stand-in. */
export const rows: readonly ContractRow[] = [
  gemini,
  midjourney,
  openai,
  minimax,
  kling,
  comfyui,
  hedra,
  hedraWebApp,
  higgsfield,
  fal,
  replicate,
  volcengine,
  stableDiffusionWebui,
];
