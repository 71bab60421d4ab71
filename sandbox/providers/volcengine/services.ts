import { randomUUID } from 'node:crypto';

import { z } from 'zod';

import type { JsonObject } from '../../../platform/json.ts';

/** The services of CVSubmitTask that this stand-in has, by key, each with its own inputs. */

/** The name of a service in faults and jobs. */
export type ServiceName = 'detect' | 'humanVideo' | 'train' | 'talk';

interface Service {
  readonly name: ServiceName;
  /** The schema of the stored input. */
  readonly read: z.ZodType<JsonObject>;
}

const address = z.url({ protocol: /^https?$/ });

const picture = z.object({ image_url: address }).transform(({ image_url: image }) => ({ image }));

const talking = z
  .object({ image_url: address, audio_url: address, mask_url: z.array(address).max(5).nullish() })
  .transform(({ image_url: image, audio_url: audio }) => ({ image, audio }));

const talkingWell = z
  .object({
    image_url: address,
    audio_url: address,
    mask_url: z.array(address).max(5).nullish(),
    prompt: z.string().max(300).nullish(),
    output_resolution: z.literal([720, 1080]).default(1080),
    pe_fast_mode: z.boolean().nullish(),
    seed: z.number().int().nullish(),
  })
  .transform(({ image_url: image, audio_url: audio, prompt, output_resolution: resolution }) => ({
    image,
    audio,
    prompt: prompt ?? '',
    resolution,
  }));

const training = z
  .object({
    vid: z.string().min(1),
    alpha_vid: z.string().nullish(),
    interaction_optimise: z.literal([0, 1]).nullish(),
  })
  .transform(({ vid }) => ({ vid, resource: randomUUID() }));

const creation = z
  .object({
    resource_id: z.string().min(1),
    audio_url: address,
    templ_start_strategy: z.string().nullish(),
    templ_start_seconds: z.number().nullish(),
  })
  .transform(({ resource_id: resource, audio_url: audio }) => ({ resource, audio }));

const SERVICES: Readonly<Record<string, Service>> = {
  jimeng_realman_avatar_picture_create_role_omni: service('detect', picture),
  jimeng_realman_avatar_picture_create_role_omni_v15: service('detect', picture),
  jimeng_realman_avatar_picture_omni_v2: service('humanVideo', talking),
  jimeng_realman_avatar_picture_omni_v15: service('humanVideo', talkingWell),
  realman_avatar_training_task_streaming: service('train', training),
  realman_avatar_creation_task: service('talk', creation),
};

function service(name: ServiceName, shape: z.ZodType<JsonObject>): Service {
  return { name, read: shape };
}

/** The service of a key. */
export function findService(key: unknown): Service | null {
  return typeof key === 'string' && Object.hasOwn(SERVICES, key) ? (SERVICES[key] ?? null) : null;
}
