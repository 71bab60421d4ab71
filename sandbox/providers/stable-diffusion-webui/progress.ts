import { json } from '../../http/answer.ts';
import type { Answer } from '../../http/answer.ts';
import { jsonObject } from '../../http/wire.ts';
import type { WireRequest, WireRoute } from '../../http/wire.ts';
import type { JobRunner } from '../../jobs/job-runner.ts';
import type { Job } from '../../jobs/job.ts';
import { readText } from '../shared/inputs/text-of.ts';

/** What the server does now: of the task that runs, and of one task by its id. */
export function progressRoutes(runner: JobRunner): WireRoute[] {
  return [
    {
      method: 'GET',
      path: '/sdapi/v1/progress',
      operation: 'progress',
      handle: () => overall(runner),
    },
    {
      method: 'POST',
      path: '/internal/progress',
      operation: 'internalProgress',
      handle: (request) => ofTask(runner, request),
    },
    {
      method: 'POST',
      path: '/sdapi/v1/interrupt',
      operation: 'interrupt',
      async handle() {
        const job = findRunning(runner);
        if (job !== null) await runner.cancel(job.id);
        return json({});
      },
    },
  ];
}

function findRunning(runner: JobRunner): Job | null {
  return runner.list().find(({ state }) => state === 'running') ?? null;
}

function overall(runner: JobRunner): Answer {
  const job = findRunning(runner);
  const percent = job === null ? 0 : runner.readProgress(job);
  const steps = Number(job?.input['steps'] ?? 0);
  return json({
    progress: percent / 100,
    eta_relative: 0,
    state: {
      skipped: false,
      interrupted: false,
      job: job === null ? '' : 'scripts_txt2img',
      job_count: job === null ? 0 : 1,
      job_no: 0,
      sampling_step: Math.round((steps * percent) / 100),
      sampling_steps: steps,
    },
    current_image: null,
    textinfo: null,
    // The real one's is null, too: it is read before any task begins.
    current_task: null,
  });
}

function ofTask(runner: JobRunner, request: WireRequest): Answer {
  const id = readText(jsonObject(request)?.['id_task']);
  const job = runner.list().find(({ reference }) => id !== null && reference === id);
  const isActive = job?.state === 'running';
  return json({
    active: isActive,
    queued: job?.state === 'queued',
    paused: false,
    completed: job?.state === 'finished',
    progress: isActive ? runner.readProgress(job) / 100 : null,
    eta: null,
    live_preview: null,
    id_live_preview: -1,
    textinfo: isActive ? null : job?.state === 'queued' ? 'Queued...' : 'Waiting...',
  });
}
