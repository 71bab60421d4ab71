import { randomUUID } from 'node:crypto';

import { z } from 'zod';

import type { JsonObject } from '../../../platform/json.ts';
import type { Fault } from '../../faults/faults.ts';
import { json, type Answer } from '../../http/answer.ts';
import { type WireRequest, type WireRoute, jsonObject } from '../../http/wire.ts';
import type { Job, JobState } from '../../jobs/job.ts';
import { detail, invalidField } from '../shared/fastapi.ts';
import { findBannedWord } from '../shared/rules/text.ts';
import { toJobFault } from '../shared/stand-in.ts';
import { fileName } from '../shared/uploads.ts';
import { INVALID, MODERATED } from './errors.ts';
import { listVoices } from './job-json.ts';
import type { HedraParts } from './parts.ts';
import { findAsset } from './web-app-assets.ts';

/** The older API's generations and voices. */
export function generationRoutes(parts: HedraParts): WireRoute[] {
  return [
    {
      method: 'POST',
      path: '/web-app/public/generations',
      operation: 'generate',
      handle: (request, fault) => generate(parts, request, fault),
    },
    {
      method: 'GET',
      path: '/web-app/public/generations/:id/status',
      operation: 'status',
      handle: (request, fault) => status(parts, request, fault),
    },
    {
      method: 'GET',
      path: '/web-app/public/voices',
      operation: 'voices',
      handle: () =>
        json(
          listVoices(parts.studio).map(({ wireId, name }) => ({
            id: wireId,
            type: 'voice',
            name,
            created_at: '2025-01-01T00:00:00Z',
            asset: { type: 'voice' },
          })),
        ),
    },
  ];
}

async function status(
  { runner, results }: HedraParts,
  request: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const { id = '' } = request.params;
  if (fault?.fault === 'lost') await runner.forget(id);
  const job = runner.get(id);
  if (job?.operation !== 'generate') return detail(404, 'Generation not found');
  const url = results.toUrl(job, request.baseUrl);
  return json(generationJson(job, { url, percent: runner.readProgress(job) }));
}

const form = z
  .object({
    type: z.literal('video'),
    generation_id: z.uuid().nullish(),
    ai_model_id: z.uuid().nullish(),
    model_slug: z.string().nullish(),
    start_keyframe_id: z.uuid(),
    audio_id: z.uuid().nullish(),
    audio_generation: z
      .object({ type: z.literal('text_to_speech'), voice_id: z.uuid(), text: z.string().min(1) })
      .nullish(),
    generated_video_inputs: z.object({
      text_prompt: z.string(),
      resolution: z.enum(['540p', '720p', '1080p']).nullish(),
      aspect_ratio: z.enum(['16:9', '9:16', '1:1']).nullish(),
    }),
  })
  .refine(({ audio_id: audio, audio_generation: spoken }) => Boolean(audio) || Boolean(spoken), {
    message: 'This model requires audio',
    path: ['audio_id'],
  });
type Requested = z.output<typeof form>;

/** POST /public/generations. */
async function generate(parts: HedraParts, request: WireRequest, fault: Fault | null): Promise<Answer> {
  const parsed = form.safeParse(jsonObject(request));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return invalidField(issue?.path ?? [], issue?.message ?? 'invalid');
  }
  const requested = parsed.data;
  if (fault?.fault === 'queue-full') return full();
  const id = requested.generation_id ?? randomUUID();
  if (parts.runner.get(id) !== null) return detail(409, 'Generation already exists');
  const missing = findMissing(parts, requested);
  if (missing !== null) return invalidField([missing], 'Not found');
  return accept(parts, { id, requested, fault });
}

function full(): Answer {
  return detail(429, 'Too many concurrent generations');
}

/** The first field with an unknown id. */
function findMissing({ studio, runner }: HedraParts, requested: Requested): string | null {
  if (findAsset(runner, requested.start_keyframe_id)?.input['type'] !== 'image') return 'start_keyframe_id';
  if (requested.audio_id)
    return findAsset(runner, requested.audio_id)?.input['type'] === 'audio' ? null : 'audio_id';
  const isVoice = listVoices(studio).some(({ wireId }) => wireId === requested.audio_generation?.voice_id);
  return isVoice ? null : 'voice_id';
}

interface Accepting {
  readonly id: string;
  readonly requested: Requested;
  readonly fault: Fault | null;
}

/** Accepts the job: its start counts from here on, even if the answer is lost. */
async function accept({ studio, runner }: HedraParts, { id, requested, fault }: Accepting): Promise<Answer> {
  const { generated_video_inputs: inputs, audio_generation: spoken } = requested;
  const voice = listVoices(studio).find(({ wireId }) => wireId === spoken?.voice_id);
  const input: JsonObject = {
    asset: randomUUID(),
    prompt: inputs.text_prompt,
    aspectRatio: inputs.aspect_ratio ?? null,
    resolution: inputs.resolution ?? null,
    text: requested.audio_id ? null : (spoken?.text ?? null),
    voice: voice?.id ?? null,
    pictures: [requested.start_keyframe_id, requested.audio_id].flatMap((asset) =>
      asset ? [fileName(asset)] : [],
    ),
  };
  const isBanned = findBannedWord(`${inputs.text_prompt} ${spoken?.text ?? ''}`) !== null;
  const jobFault = isBanned ? 'moderate' : toJobFault(fault);
  const reference = requested.generation_id ?? null;
  const job = await runner.submit({ id, operation: 'generate', reference, input, fault: jobFault });
  return job === null
    ? full()
    : json({ ...generationJson(job, { url: null, percent: 0 }), eta_sec: null, batch_results: [] });
}

const STATUS: Readonly<Record<JobState, string>> = {
  queued: 'queued',
  running: 'processing',
  finished: 'complete',
  failed: 'error',
  cancelled: 'error',
};

/** From this percentage on the status is `finalizing`. */
const FINALIZING = 90;

/** A generation as its status shows it. */
function generationJson(
  job: Job,
  { url, percent }: { readonly url: string | null; readonly percent: number },
): object {
  const isLate = job.state === 'running' && percent >= FINALIZING;
  return {
    id: job.id,
    asset_id: job.input['asset'] ?? job.id,
    type: 'video',
    status: isLate ? 'finalizing' : STATUS[job.state],
    progress: percent / 100,
    created_at: new Date(job.submittedAt).toISOString(),
    error: job.failure === null ? null : errorJson(job.failure),
    error_message: job.failure,
    url,
    download_url: url,
    streaming_url: null,
  };
}

function errorJson(failure: string): object {
  const isInvalid = failure.startsWith(INVALID);
  const message = isInvalid ? failure.slice(INVALID.length) : failure;
  const type = failure === MODERATED ? 'MODERATION_FAILED' : isInvalid ? 'INVALID_ARGUMENT' : 'INTERNAL';
  return { type, reason_code: null, message };
}
