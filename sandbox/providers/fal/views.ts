import { json, type Answer } from '../../http/answer.ts';
import type { JobRunner } from '../../jobs/job-runner.ts';
import type { Job } from '../../jobs/job.ts';
import { readRequested, readText } from '../shared/inputs.ts';
import { progressBar } from '../shared/progress-bar.ts';
import type { Results } from '../shared/results.ts';
import { invalid, MODERATED, platformError } from './answers.ts';
import { readApp } from './endpoints.ts';

/** fal's JSON of a request: its queue status, and its result. */
export interface FalViews {
  /** The queue status of a request; with logs when requested. */
  status(job: Job, baseUrl: string, hasLogs: boolean): object;
  /** The result of a completed request, or its error. */
  result(job: Job, baseUrl: string): Answer;
}

/** Whether the job has left the queue, successfully or not. */
export function isCompleted({ state }: Job): boolean {
  return state !== 'queued' && state !== 'running';
}

/** Creates the views. */
export function createFalViews(runner: JobRunner, results: Results): FalViews {
  return {
    status(job, baseUrl, hasLogs) {
      const request = `${baseUrl}${readApp(readText(job.input['path']) ?? '')}/requests/${job.id}`;
      const urls = {
        response_url: request,
        status_url: `${request}/status`,
        cancel_url: `${request}/cancel`,
      };
      const shared = { request_id: job.id, ...urls };
      if (job.state === 'queued') {
        return { status: 'IN_QUEUE', ...shared, queue_position: countAhead(runner, job) };
      }
      const logs = hasLogs ? makeLogs(job, runner.readProgress(job)) : null;
      if (job.state === 'running') return { status: 'IN_PROGRESS', ...shared, logs };
      const seconds = ((job.endedAt ?? 0) - (job.startedAt ?? job.submittedAt)) / 1_000;
      return { status: 'COMPLETED', ...shared, logs, metrics: { inference_time: seconds } };
    },
    result(job, baseUrl) {
      if (!isCompleted(job)) return platformError(400, 'Request is still in progress');
      if (job.state === 'cancelled') return platformError(499, 'Request was cancelled', 'client_cancelled');
      if (job.failure === MODERATED) return invalid(['prompt'], MODERATED, 'content_policy_violation');
      if (job.failure !== null) return platformError(500, job.failure, 'runner_server_error');
      return json(toPayload(job, results, baseUrl));
    },
  };
}

function countAhead(runner: JobRunner, job: Job): number {
  return runner.list().filter((other) => other.state === 'queued' && other.submittedAt < job.submittedAt)
    .length;
}

function makeLogs(job: Job, percent: number): readonly object[] {
  const timestamp = new Date(job.startedAt ?? job.submittedAt).toISOString();
  return [{ message: progressBar(percent), level: 'STDERR', source: 'USER', timestamp }];
}

function toPayload(job: Job, results: Results, baseUrl: string): object {
  const seed = job.result?.facts['seed'] ?? 0;
  const files = (job.result?.files ?? []).map((file, index) => ({
    url: results.toUrl(job, baseUrl, index),
    content_type: file.contentType,
    file_name: file.name,
    width: file.width,
    height: file.height,
  }));
  if (job.operation === 'video') return { video: files[0], seed };
  return {
    images: files,
    timings: {},
    seed,
    has_nsfw_concepts: files.map(() => false),
    prompt: readRequested(job)['prompt'],
  };
}
