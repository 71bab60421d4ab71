import { randomUUID } from 'node:crypto';

import { z } from 'zod';

import type { JsonObject } from '../../../platform/json.ts';
import { json, type Answer } from '../../http/answer.ts';
import type { WireRequest } from '../../http/wire.ts';
import type { Unsigned } from './signature.ts';

/** The two answer formats of Volcengine: codes of the visual service, and metadata of the others. */

/** The image is refused for its content. */
export const CONTENT = '50411 Pre Img Risk Not Pass';
/** Too much of the account's work is open. */
export const CONCURRENCY = '50430 Request Has Reached API Concurrent Limit, Please Try Later';
/** Too many requests. */
export const LIMIT = '50429 Request Has Reached API Limit, Please Try Later';
/** There is no such service, or it is not opened for this account. */
export const NOT_OPENED = '50400 Access Denied: Internal Error';
/** The service itself failed. */
export const INTERNAL = '50500 Internal Error';
/** The failure of a job that is not the caller's fault; failed checks answer 400, as the result of the work. */
export const BROKEN = '50520 Risk Internal Error';
/** Prefix of the failure of an unusable input. */
export const NOT_FETCHED = '50220 Asset can not be downloaded';
/** The input is invalid for this service. */
export const UNFIT = '50215 Input invalid for this service.';

/** A success of the visual service. */
export function visual(data: object): Answer {
  return json({ code: 10_000, data, message: 'Success', ...trace(10_000) });
}

/** An error of the visual service: `<code> <message>`. */
export function visualError(words: string, headers: Readonly<Record<string, string>> = {}): Answer {
  const { code, message } = parseCode(words);
  return json({ code, data: null, message, ...trace(code) }, toStatus(code), headers);
}

function trace(status: number): object {
  return { request_id: requestId(), status, time_elapsed: '1.234567ms' };
}

function parseCode(words: string): { readonly code: number; readonly message: string } {
  const [, code, message] = /^(\d{5}) (.*)$/s.exec(words) ?? [null, '50500', words];
  return { code: Number(code), message: message ?? '' };
}

function toStatus(code: number): number {
  if (code === 50_429 || code === 50_430) return 429;
  return code === 50_500 || code === 50_501 ? 500 : 400;
}

/** A success of VOD. */
export function vod(request: WireRequest, result: object): Answer {
  return json({ ResponseMetadata: metadata(request, 'vod'), Result: result });
}

/** An error of the gateway in front of all services. */
export function gatewayError(
  request: WireRequest | null,
  service: 'cv' | 'vod',
  { status, error }: { readonly status: number; readonly error: Unsigned },
): Answer {
  const { number, code, message } = error;
  const Error = { CodeN: number, Code: code, Message: message };
  return json({ ResponseMetadata: { ...metadata(request, service), Error } }, status);
}

function metadata(request: WireRequest | null, Service: 'cv' | 'vod'): object {
  const Action = request?.query.get('Action') ?? '';
  const Version = request?.query.get('Version') ?? '';
  return { RequestId: requestId(), Action, Version, Service, Region: 'cn-north-1' };
}

function requestId(): string {
  return randomUUID().replaceAll('-', '').toUpperCase();
}

/** The services of CVSubmitTask that this stand-in has, by key, each with its own inputs. */

/** The name of a service in faults and jobs. */
export type ServiceName = 'detect' | 'humanVideo' | 'train' | 'talk';

interface Service {
  readonly name: ServiceName;
  /** The schema of the stored input. */
  readonly read: z.ZodType<JsonObject>;
}

const address = z.url({ protocol: /^https?$/ });

const imageAddress = z.object({ image_url: address }).transform(({ image_url: image }) => ({ image }));

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
  jimeng_realman_avatar_picture_create_role_omni: service('detect', imageAddress),
  jimeng_realman_avatar_picture_create_role_omni_v15: service('detect', imageAddress),
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
