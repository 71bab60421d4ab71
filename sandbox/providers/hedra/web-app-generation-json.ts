import type { Job, JobState } from '../../jobs/job.ts';
import { INVALID, MODERATED } from './errors.ts';

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
export function generationJson(
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
