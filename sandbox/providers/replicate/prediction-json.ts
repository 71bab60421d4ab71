import type { JobRunner } from '../../jobs/job-runner.ts';
import type { Job, JobState } from '../../jobs/job.ts';
import { progressBar } from '../shared/progress-bar.ts';
import type { Results } from '../shared/results.ts';
import { MODELS, toVersion } from './models.ts';

const STATUS: Readonly<Record<JobState, string>> = {
  queued: 'starting',
  running: 'processing',
  finished: 'succeeded',
  failed: 'failed',
  cancelled: 'canceled',
};

/** Outputs are deleted an hour after the end of a prediction. */
const KEPT_MS = 3_600_000;

/** The JSON of a prediction. */
export function predictionJson(
  { runner, results }: { readonly runner: JobRunner; readonly results: Results },
  job: Job,
  baseUrl: string,
): object {
  const isRemoved = job.endedAt !== null && Date.now() - job.endedAt > KEPT_MS;
  const get = `${baseUrl}/v1/predictions/${job.id}`;
  const at = (time: number | null) => (time === null ? null : new Date(time).toISOString());
  return {
    id: job.id,
    model: job.input['model'] ?? null,
    version: versionNamed(job.input['model']),
    input: isRemoved ? {} : (job.input['requested'] ?? {}),
    output: isRemoved ? null : toOutput(job, results, baseUrl),
    logs: job.state === 'queued' ? '' : `${progressBar(runner.readProgress(job))}\n`,
    error: job.failure,
    status: STATUS[job.state],
    data_removed: isRemoved,
    created_at: at(job.submittedAt),
    started_at: at(job.startedAt),
    completed_at: at(job.endedAt),
    metrics: toMetrics(job),
    urls: { get, cancel: `${get}/cancel`, stream: `${get}/stream`, web: `https://replicate.com/p/${job.id}` },
  };
}

function toOutput(job: Job, results: Results, baseUrl: string): unknown {
  const urls = (job.result?.files ?? []).map((_file, index) => results.toUrl(job, baseUrl, index));
  if (urls.length === 0) return null;
  return job.input['answersList'] === true ? urls : urls[0];
}

/** Seconds that it ran, and those with its wait; nothing before its end. */
function toMetrics({ submittedAt, startedAt, endedAt }: Job): object {
  if (endedAt === null) return {};
  return {
    predict_time: (endedAt - (startedAt ?? endedAt)) / 1_000,
    total_time: (endedAt - submittedAt) / 1_000,
  };
}

function versionNamed(model: unknown): string {
  const found = MODELS.find(({ name }) => name === model);
  return found === undefined ? 'hidden' : toVersion(found);
}
