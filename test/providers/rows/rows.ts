import type { ContractRow } from './row.ts';
import { comfyui } from './rows/comfyui.ts';
import { fal } from './rows/fal.ts';
import { gemini } from './rows/gemini.ts';
import { hedra } from './rows/hedra.ts';
import { higgsfield } from './rows/higgsfield.ts';
import { kling } from './rows/kling.ts';
import { midjourney } from './rows/midjourney.ts';
import { minimax } from './rows/minimax.ts';
import { openai } from './rows/openai.ts';
import { replicate } from './rows/replicate.ts';
import { volcengine } from './rows/volcengine.ts';

/** Every provider that there is. A new one is a file in rows/, a line here, its fixture, and its stand-in. */
export const rows: readonly ContractRow[] = [
  gemini,
  midjourney,
  openai,
  minimax,
  kling,
  comfyui,
  hedra,
  higgsfield,
  fal,
  replicate,
  volcengine,
];
