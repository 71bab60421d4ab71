import { randomUUID } from 'node:crypto';

import { json, type Answer } from '../../http/answer.ts';
import type { Job, JobState } from '../../jobs/job.ts';

/** The vendor's result codes and the HTTP status that each comes with (General Information, error codes). */
const STATUS = {
  0: 200,
  1000: 401,
  1001: 401,
  1002: 401,
  1003: 401,
  1004: 401,
  1102: 429,
  1201: 400,
  1203: 404,
  1301: 400,
  1302: 429,
  1303: 429,
  5000: 500,
} as const;

/** Codes that this stand-in answers. */
export type KlingCode = keyof typeof STATUS;

/** An error, with an HTTP status and a code in the body. */
export function refusal(code: Exclude<KlingCode, 0>, message: string): Answer {
  return json({ code, message, request_id: randomUUID() }, STATUS[code]);
}

/** An answer with data. */
export function success(data: unknown): Answer {
  return json({ code: 0, message: 'SUCCEED', request_id: randomUUID(), data });
}

/** `succeed`, not "succeeded": the vendor's own word. */
const TASK_STATUS: Readonly<Record<JobState, string>> = {
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
    task_status: TASK_STATUS[job.state],
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
