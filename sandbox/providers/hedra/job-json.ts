import { createHash } from 'node:crypto';

import type { JobRunner } from '../../jobs/job-runner.ts';
import type { Job, JobState } from '../../jobs/job.ts';
import type { Studio } from '../../studio/types/studio.ts';
import { envelope, INVALID, MODERATED } from './errors.ts';
import type { HedraParts } from './parts.ts';

const STATUS: Readonly<Record<JobState, string>> = {
  queued: 'IN_QUEUE',
  running: 'IN_PROGRESS',
  finished: 'COMPLETED',
  failed: 'FAILED',
  cancelled: 'FAILED',
};

/** A job of v3 as `/jobs/{id}/status` and the stream show it. */
export function toStatus(
  { runner }: Pick<HedraParts, 'runner'>,
  job: Job,
): { readonly status: string; readonly [name: string]: unknown } {
  const progress = job.state === 'finished' ? 1 : runner.readProgress(job) / 100;
  return { job_id: job.id, status: STATUS[job.state], progress, estimated_completion_at: null };
}

/** A job of v3 with its outputs. */
export function toResult({ results }: HedraParts, job: Job, baseUrl: string): object {
  return {
    job_id: job.id,
    model: job.input['model'] ?? null,
    status: STATUS[job.state],
    prompt: job.input['prompt'] ?? null,
    outputs: (job.result?.files ?? []).map((file, index) => ({
      status: 'COMPLETED',
      asset_id: toAssetId(job),
      voice_id: null,
      url: results.toUrl(job, baseUrl, index),
      content_type: file.contentType,
      width: file.width ?? null,
      height: file.height ?? null,
      duration_ms: file.duration === undefined ? null : Math.round(file.duration * 1_000),
      fps: null,
      error: null,
    })),
    metrics:
      job.endedAt === null ? null : { processing_time_ms: job.endedAt - (job.startedAt ?? job.endedAt) },
    error: job.failure === null ? null : toError(job.failure),
  };
}

function toError(failure: string): object {
  if (failure === MODERATED) return envelope('MODERATION_FAILED', failure);
  const isInvalid = failure.startsWith(INVALID);
  return isInvalid
    ? envelope('INVALID_ARGUMENT', failure.slice(INVALID.length))
    : envelope('INTERNAL', failure);
}

function toAssetId({ id }: Job): string {
  return id.replace(/^job_/, 'asset_');
}

/** The job whose output an asset is; null when there is none. */
export function findAssetJob(runner: JobRunner, assetId: string): Job | null {
  const job = runner.get(assetId.replace(/^asset_/, 'job_'));
  return job?.state === 'finished' ? job : null;
}

/** The voices, with ids in this wire's format. */
export function listVoices(
  studio: Studio,
): readonly { readonly wireId: string; readonly id: string; readonly name: string }[] {
  return studio.voices().map(({ id, name }) => ({ wireId: toWireId(id), id, name }));
}

/** The same voice always has the same id. */
function toWireId(id: string): string {
  const hash = createHash('sha256').update(`hedra-voice:${id}`).digest('hex');
  return `${hash.slice(0, 8)}-${hash.slice(8, 12)}-4${hash.slice(13, 16)}-8${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
}

/** Its id at v3. */
export function voiceName({ wireId }: { readonly wireId: string }): string {
  return `voice_${wireId}`;
}
