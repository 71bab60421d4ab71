import type { Logger } from '../platform/process/logger.ts';
import type { Journal } from './jobs/journal.ts';
import type { LatencyProfile } from './jobs/latency-profile.ts';
import { ARK, createArk } from './providers/ark/ark.ts';
import { COMFYUI, createComfyui } from './providers/comfyui/comfyui.ts';
import { FAL, createFal } from './providers/fal/fal.ts';
import { FAL_REST } from './providers/fal/storage.ts';
import { GEMINI, createGemini } from './providers/gemini/gemini.ts';
import { HEDRA, createHedra } from './providers/hedra/hedra.ts';
import { HIGGSFIELD, createHiggsfield } from './providers/higgsfield/higgsfield.ts';
import { KLING, createKling } from './providers/kling/kling.ts';
import { MIDJOURNEY, createMidjourney } from './providers/midjourney/midjourney.ts';
import { MINIMAX, createMinimax } from './providers/minimax/minimax.ts';
import { OPENAI, createOpenai } from './providers/openai/openai.ts';
import { REPLICATE, createReplicate } from './providers/replicate/replicate.ts';
import type { StandIn } from './providers/shared/stand-in.ts';
import {
  createStableDiffusionWebui,
  STABLE_DIFFUSION_WEBUI,
} from './providers/stable-diffusion-webui/stable-diffusion-webui.ts';
import { VOLCENGINE_VOD } from './providers/volcengine/vod.ts';
import { VOLCENGINE, createVolcengine } from './providers/volcengine/volcengine.ts';
import type { Studio } from './studio/types/studio.ts';

export interface StandInsOptions {
  readonly studio: Studio;
  readonly journal: Journal;
  readonly logger: Logger;
  readonly findLatency: (wire: string) => LatencyProfile;
  /** The address of a mount; valid once the sandbox listens. */
  readonly baseUrl: (mount: string) => string;
  readonly secrets: Secrets;
}

/** The required credential by wire; without one every caller is accepted. */
export type Secrets = Readonly<Record<string, string>>;

/** Creates all stand-ins. A new one is a folder in providers/, a line here and its initial latency. */
export function createStandIns(options: StandInsOptions): StandIn[] {
  const { studio, journal, logger, secrets } = options;
  const makeParts = (wire: string, secret = wire) => ({
    studio,
    journal,
    logger,
    latency: () => options.findLatency(wire),
    secret: secrets[secret] ?? null,
    baseUrl: () => options.baseUrl(wire),
  });
  return [
    createMidjourney(makeParts(MIDJOURNEY)),
    createOpenai(makeParts(OPENAI)),
    createMinimax(makeParts(MINIMAX)),
    createKling(makeParts(KLING)),
    createGemini(makeParts(GEMINI)),
    ...createFal({ ...makeParts(FAL), storageLatency: () => options.findLatency(FAL_REST) }),
    createReplicate(makeParts(REPLICATE)),
    createHedra(makeParts(HEDRA)),
    createHiggsfield(makeParts(HIGGSFIELD)),
    ...createVolcengine({ ...makeParts(VOLCENGINE), vodLatency: () => options.findLatency(VOLCENGINE_VOD) }),
    createArk(makeParts(ARK)),
    createStableDiffusionWebui(makeParts(STABLE_DIFFUSION_WEBUI)),
    ...COMFYUI.map((machine) => createComfyui({ ...makeParts(machine, 'comfyui'), machine })),
  ];
}

/** A machine runs one job at a time. */
const MACHINE_LATENCY = { queuedMs: 0, progressSteps: 8, concurrency: 1 };

/** The initial latency of each wire. */
export const INITIAL_LATENCIES: Readonly<Record<string, Partial<LatencyProfile>>> = {
  [MIDJOURNEY]: {},
  ...Object.fromEntries(COMFYUI.map((machine) => [machine, MACHINE_LATENCY])),
  // Synchronous: no latency beyond the work itself.
  [OPENAI]: { queuedMs: 0, runningMs: 0, progressSteps: 1, concurrency: 64 },
  [MINIMAX]: {},
  [KLING]: {},
  [HEDRA]: {},
  [HIGGSFIELD]: {},
  [FAL]: {},
  // Uploads need no work.
  [FAL_REST]: { queuedMs: 0, runningMs: 0, progressSteps: 1, concurrency: 64 },
  [REPLICATE]: {},
  [ARK]: {},
  [STABLE_DIFFUSION_WEBUI]: MACHINE_LATENCY,
  [VOLCENGINE]: {},
  [VOLCENGINE_VOD]: {},
  [GEMINI]: { queuedMs: 0, runningMs: 0, progressSteps: 1, concurrency: 64 },
};
