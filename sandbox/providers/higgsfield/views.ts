import type { Job, JobState } from '../../jobs/job.ts';
import type { Results } from '../shared/results.ts';

/** The failure of a job that was refused for its content. */
export const NSFW = 'nsfw';

const STATUS: Readonly<Record<JobState, string>> = {
  queued: 'queued',
  running: 'in_progress',
  finished: 'completed',
  failed: 'failed',
  cancelled: 'canceled',
};

/** The JSON of a request for pictures, in submissions, status answers and webhooks. */
export function requestJson(job: Job, results: Results, baseUrl: string): object {
  const at = `${baseUrl}/requests/${job.id}`;
  const images = (job.result?.files ?? []).map((_file, index) => ({
    url: results.toUrl(job, baseUrl, index),
  }));
  return {
    status: job.failure === NSFW ? 'nsfw' : STATUS[job.state],
    request_id: job.id,
    status_url: `${at}/status`,
    cancel_url: `${at}/cancel`,
    ...(images.length > 0 && { images }),
    ...(job.failure !== null && job.failure !== NSFW && { error: job.failure }),
  };
}

/** The JSON of a character. */
export function characterJson(job: Job): object {
  const at = (time: number | null) => (time === null ? null : new Date(time).toISOString());
  return {
    id: job.id,
    name: job.input['name'] ?? '',
    status: job.state === 'queued' ? 'not_ready' : STATUS[job.state],
    thumbnail_url: null,
    created_at: at(job.submittedAt),
    in_progress_at: at(job.startedAt),
  };
}
