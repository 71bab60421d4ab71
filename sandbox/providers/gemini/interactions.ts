import { z } from 'zod';

import type { Fault } from '../../faults/faults.ts';
import { json, type Answer } from '../../http/answer.ts';
import { jsonObject, type WireRequest } from '../../http/wire.ts';
import type { Job } from '../../jobs/job.ts';
import { readText } from '../shared/inputs.ts';
import { newNumericId } from '../shared/numeric-id.ts';
import { storeInputs } from '../shared/perform.ts';
import { toJobFault } from '../shared/stand-in.ts';
import { exhausted, googleError, invalid } from './errors.ts';
import { MODERATED, noModel, describeIssue } from './generate.ts';
import type { VeoContext } from './veo.ts';

/** The Interactions API: videos of the Omni models, in the background or while the caller waits. */

const part = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string().min(1) }),
  z.strictObject({ type: z.literal('image'), data: z.base64().min(1), mime_type: z.string() }),
]);
const interactionRequest = z.strictObject({
  model: z.string(),
  input: z.union([
    z
      .string()
      .min(1)
      .transform((text) => [{ type: 'text' as const, text }]),
    z.array(part).min(1),
  ]),
  background: z.boolean().default(false),
  store: z.literal(true).optional(),
  response_format: z
    .strictObject({
      type: z.literal('video'),
      aspect_ratio: z.enum(['16:9', '9:16']).optional(),
      resolution: z.enum(['360p', '720p', '1080p', '4k']).optional(),
      duration: z
        .string()
        .regex(/^([1-9]|10)s$/)
        .default('8s'),
      delivery: z.enum(['uri']).optional(),
    })
    .default({ type: 'video', duration: '8s' }),
  generation_config: z.strictObject({ seed: z.int().optional() }).optional(),
});

/** POST /v1beta/interactions. */
export async function startInteraction(
  context: VeoContext,
  request: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const { runner, journal } = context;
  const parsed = interactionRequest.safeParse(jsonObject(request));
  if (!parsed.success) return invalid(describeIssue(parsed.error.issues[0]));
  const { model, input: parts, response_format: format, generation_config: config } = parsed.data;
  if (!model.includes('-omni-')) return noModel(model, 'interactions');
  if (fault?.fault === 'queue-full') return exhausted(3);
  if (fault?.fault === 'moderation') return invalid(SENSITIVE);
  const id = newNumericId('n', 13);
  const frames = parts.flatMap((one) => (one.type === 'image' ? [Buffer.from(one.data, 'base64')] : []));
  const images = await storeInputs(journal, id, frames);
  const input = {
    model,
    prompt: parts.flatMap((one) => (one.type === 'text' ? [one.text] : [])).join('\n'),
    seconds: Number.parseInt(format.duration, 10),
    ...(format.aspect_ratio !== undefined && { aspectRatio: format.aspect_ratio }),
    ...(format.resolution !== undefined && { resolution: format.resolution }),
    ...(config?.seed !== undefined && { seed: config.seed }),
    pictures: images,
    firstFrame: images.slice(0, 1),
    lastFrame: [],
  };
  const jobFault = toJobFault(fault);
  const job = await runner.submit({ id, operation: 'video', reference: null, input, fault: jobFault });
  if (job === null) return exhausted(3);
  if (parsed.data.background) return json(interactionJson(job, ''));
  const ended = await runner.ended(id, request.signal);
  return json(interactionJson(ended, toFileUrl(context, id, request.baseUrl)));
}

const SENSITIVE = "This prompt contains sensitive words that violate Google's Responsible AI practices.";

/** GET /v1beta/interactions/{id}. */
export async function showInteraction(
  context: VeoContext,
  { params, baseUrl }: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const { runner } = context;
  const { id = '' } = params;
  if (fault?.fault === 'lost' || fault?.fault === 'lost-silently') await runner.forget(id);
  const job = runner.get(id);
  if (job?.operation !== 'video') return googleError('NOT_FOUND', 'Requested entity was not found.');
  return json(interactionJson(job, toFileUrl(context, id, baseUrl)));
}

/** DELETE /v1beta/interactions/{id}. */
export async function removeInteraction({ runner }: VeoContext, { params }: WireRequest): Promise<Answer> {
  const { id = '' } = params;
  if (runner.get(id)?.operation !== 'video')
    return googleError('NOT_FOUND', 'Requested entity was not found.');
  await runner.forget(id);
  return json({});
}

function toFileUrl({ expiry }: VeoContext, id: string, baseUrl: string): string {
  return `${baseUrl}/v1beta/files/${id}e${expiry.currentVersion(id)}:download?alt=media`;
}

const STATUS = {
  queued: 'in_progress',
  running: 'in_progress',
  finished: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
} as const;

function interactionJson(job: Job, uri: string): object {
  const { id, input, state, submittedAt } = job;
  const message = job.failure === MODERATED ? SENSITIVE : (job.failure ?? 'Internal error.');
  return {
    id,
    object: 'interaction',
    model: readText(input['model']),
    status: STATUS[state],
    created: new Date(submittedAt).toISOString(),
    ...(state === 'finished' && {
      steps: [{ type: 'model_output', content: [{ type: 'video', mime_type: 'video/mp4', uri }] }],
    }),
    ...(state === 'failed' && { steps: [{ type: 'model_output', error: { code: 13, message } }] }),
  };
}
