import type { Job, JobState } from '../../jobs/job.ts';

/** `succeed`, not "succeeded": the vendor's own word. */
const STATUS: Readonly<Record<JobState, string>> = {
  queued: 'submitted',
  running: 'processing',
  finished: 'succeed',
  failed: 'failed',
  cancelled: 'failed',
};

/** The JSON of a task. */
export function taskJson(job: Job, url: string | null): object {
  return {
    task_id: job.id,
    task_status: STATUS[job.state],
    task_status_msg: job.failure ?? '',
    task_info: job.reference === null ? {} : { external_task_id: job.reference },
    created_at: job.submittedAt,
    updated_at: job.endedAt ?? job.startedAt ?? job.submittedAt,
    ...(url !== null && {
      task_result: {
        videos: [{ id: `${job.id}0`, url, duration: String(job.result?.files[0]?.duration ?? '') }],
      },
    }),
  };
}
