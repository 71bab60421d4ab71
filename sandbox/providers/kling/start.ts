import { z } from 'zod';

import type { JsonObject } from '../../../platform/json.ts';
import type { Fault } from '../../faults/faults.ts';
import type { Answer } from '../../http/answer.ts';
import { jsonObject, type WireRequest } from '../../http/wire.ts';
import type { JobRunner } from '../../jobs/job-runner.ts';
import type { Journal } from '../../jobs/journal.ts';
import { newNumericId } from '../shared/numeric-id.ts';
import { storeInputs } from '../shared/perform.ts';
import { findBannedWord } from '../shared/rules/text.ts';
import { toJobFault } from '../shared/stand-in.ts';
import { refusal, success, taskJson } from './answers.ts';

/** The two ways to start a video. */
export type KlingAction = 'text2video' | 'image2video';

const MAX_PROMPT = 2_500;
const prompt = z.string().max(MAX_PROMPT);
const shot = z.object({
  index: z.int().min(1).max(6),
  prompt: z.string().max(512),
  duration: z.string().regex(/^\d{1,2}$/),
});
const SECONDS = ['3', '4', '5', '6', '7', '8', '9', '10', '11', '12', '13', '14', '15'] as const;
const common = {
  model_name: z
    .string()
    .regex(/^kling-v\d[\w-]*$/)
    .default('kling-v1'),
  negative_prompt: prompt.nullish(),
  cfg_scale: z.number().min(0).max(1).nullish(),
  mode: z.enum(['std', 'pro']).default('std'),
  // Seconds are a string on this wire.
  duration: z.enum(SECONDS).default('5'),
  sound: z.enum(['on', 'off']).nullish(),
  multi_shot: z.boolean().nullish(),
  shot_type: z.enum(['customize', 'intelligence']).nullish(),
  multi_prompt: z.array(shot).min(1).max(6).nullish(),
  voice_list: z
    .array(z.object({ voice_id: z.string() }))
    .max(2)
    .nullish(),
  element_list: z
    .array(z.object({ element_id: z.int() }))
    .max(3)
    .nullish(),
  watermark_info: z.object({ enabled: z.boolean() }).nullish(),
  external_task_id: z.string().min(1).nullish(),
  callback_url: z.string().nullish(),
};
/** What a model of the first two versions makes. */
const LENGTH = { message: 'this model makes 5 or 10 seconds', path: ['duration'] };

function isItsLength(asked: { readonly model_name: string; readonly duration: string }): boolean {
  return !/^kling-v[12](-|$)/.test(asked.model_name) || ['5', '10'].includes(asked.duration);
}

const base64Image = z.string().regex(/^[A-Za-z0-9+/]+={0,2}$/, 'File is not in a valid base64 format');
const forms = {
  text2video: z
    .object({
      ...common,
      prompt: prompt.min(1),
      aspect_ratio: z.enum(['16:9', '9:16', '1:1']).default('16:9'),
    })
    .refine(isItsLength, LENGTH),
  image2video: z
    .object({
      ...common,
      prompt: prompt.nullish(),
      image: base64Image.nullish(),
      image_tail: base64Image.nullish(),
    })
    .refine(isItsLength, LENGTH)
    .refine(({ image, image_tail: tail }) => Boolean(image) || Boolean(tail), {
      message: 'image and image_tail cannot both be empty',
      path: ['image'],
    })
    .refine(({ mode, image_tail: tail }) => !tail || mode === 'pro', {
      message: 'image_tail is supported in pro mode only',
      path: ['mode'],
    }),
};

/** The context of a start. */
export interface KlingParts {
  readonly runner: JobRunner;
  readonly journal: Journal;
}

/** POST /v1/videos/text2video and /v1/videos/image2video. */
export async function startVideo(
  parts: KlingParts,
  action: KlingAction,
  request: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const body = jsonObject(request);
  if (body === null) return refusal(1201, 'Failed to resolve the request body');
  const parsed = forms[action].safeParse(body);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return refusal(1201, `${issue?.path.join('.') || 'body'}: ${issue?.message ?? 'invalid'}`);
  }
  const requested = parsed.data;
  if (fault?.fault === 'moderation' || findBannedWord(requested.prompt ?? '') !== null) {
    return refusal(1301, 'Failure to pass the risk control system');
  }
  if (fault?.fault === 'queue-full') return full();
  const reference = requested.external_task_id ?? null;
  const isTaken = reference !== null && parts.runner.list().some((job) => job.reference === reference);
  if (isTaken) return refusal(1201, 'external_task_id already exists');
  return accept(parts, { action, requested, reference, fault });
}

function full(): Answer {
  return refusal(1303, 'parallel task over resource pack limit');
}

interface Accepting {
  readonly action: KlingAction;
  readonly requested: z.output<(typeof forms)[KlingAction]>;
  readonly reference: string | null;
  readonly fault: Fault | null;
}

/** Accepts the job: its start counts from here on, even if the answer is lost. */
async function accept(
  { runner, journal }: KlingParts,
  { action, requested, reference, fault }: Accepting,
): Promise<Answer> {
  const id = newNumericId('8', 18);
  const frames = 'image' in requested ? [requested.image, requested.image_tail] : [];
  const images = frames.filter((frame) => typeof frame === 'string');
  const input: JsonObject = {
    prompt: requested.prompt ?? '',
    mode: requested.mode,
    duration: Number(requested.duration),
    aspectRatio: 'aspect_ratio' in requested ? requested.aspect_ratio : null,
    callbackUrl: requested.callback_url ?? null,
    hasFirst: Boolean(frames[0]),
    hasLast: Boolean(frames[1]),
    pictures: await storeInputs(
      journal,
      id,
      images.map((frame) => Buffer.from(frame, 'base64')),
    ),
  };
  const jobFault = toJobFault(fault);
  const job = await runner.submit({ id, operation: action, reference, input, fault: jobFault });
  return job === null ? full() : success(taskJson(job, null));
}
