import type { Break } from './break.ts';

const POLL_ATTEMPT = 'subgraphs/media/tasks/work/progress/poll-attempt.ts';

/** What a short run of chaos finds (`npm run breaks -- chaos`), by the line of its table. */
export const CHAOS_BREAKS: readonly Break[] = [
  {
    name: 'a database that is away is told as a fault of Kiln',
    finds: 'answers that may not be repeated .*WRONG',
    edits: [
      {
        file: 'platform/database-away.ts',
        from: 'if (!(thrown instanceof Error) || thrown instanceof AppError || !isUnavailable(thrown)) return undefined;',
        to: 'if (!(thrown instanceof Error) || thrown instanceof AppError || isUnavailable(thrown)) return undefined;',
      },
    ],
  },
  {
    name: 'a subgraph that is away is told as a fault of Kiln',
    finds: 'answers that may not be repeated .*WRONG',
    edits: [
      {
        file: 'platform/graphql/links/remote-http.ts',
        from: "return new AppError('UNAVAILABLE', isLate ? 'no answer in time' : 'no answer', { cause });",
        to: "return new AppError('INTERNAL', isLate ? 'no answer in time' : 'no answer', { cause });",
      },
    ],
  },
  {
    name: 'a request that is repeated with its key makes a second task',
    finds: 'answered tasks are there, one per key .*WRONG',
    edits: [
      {
        file: 'subgraphs/media/tasks/rules/submit.ts',
        from: 'const entry = toIdempotencyRecord(caller, submission.idempotencyKey, submission.fingerprint);',
        to: 'const entry = toIdempotencyRecord(caller, null, submission.fingerprint);',
      },
    ],
  },
  {
    name: 'a follower that comes back gets everything again',
    finds: 'followers saw every entry once .*WRONG',
    edits: [
      {
        file: 'subgraphs/media/tasks/rules/service.ts',
        from: 'const after = Math.max(0, Math.trunc(afterSeq));',
        to: 'const after = Math.max(0, Math.trunc(afterSeq) * 0);',
      },
    ],
  },
  {
    name: 'one unanswered status call fails the work',
    finds: 'none of them in vain .*WRONG',
    edits: [
      {
        file: POLL_ATTEMPT,
        from: 'if (isOverdue(dependencies, context)) return failUnanswered(dependencies, context);\n  const failures = due.pollFailures + 1;\n  const pauseMs',
        to: 'if (!isOverdue(dependencies, context)) return failUnanswered(dependencies, context);\n  const failures = due.pollFailures + 1;\n  const pauseMs',
      },
    ],
  },
  {
    name: 'a result that cannot be fetched at once is given up',
    finds: 'none of them in vain .*WRONG',
    edits: [
      {
        file: 'subgraphs/media/tasks/work/results/store-worker.ts',
        from: 'if (pause !== null) {',
        to: 'if (pause !== null) {\n    await failStorage(dependencies, key, error);\n    return;\n  }\n  if (pause !== null) {',
      },
    ],
  },
  {
    name: 'the polls of a worker that was killed are not taken over',
    finds: 'tasks and executions ended .*WRONG',
    edits: [
      {
        file: 'subgraphs/media/tasks/storage/poll-store.ts',
        from: "set next_poll_at = date_trunc('milliseconds', now() + make_interval(secs => ${leaseSeconds})) from due",
        to: "set next_poll_at = date_trunc('milliseconds', now() + interval '1 day' + make_interval(secs => ${leaseSeconds})) from due",
      },
    ],
  },
  {
    name: 'the jobs of a process that was killed are not taken over',
    finds: 'tasks and executions ended .*WRONG',
    edits: [
      {
        file: 'platform/queue/claimed-jobs.ts',
        from: "where job.state = 'active' and job.lease_ends_at < now()",
        to: "where job.state = 'active' and job.lease_ends_at < now() - interval '1 day'",
      },
    ],
  },
  {
    name: 'a start of which nothing is known is left alone',
    finds: 'tasks and executions ended .*WRONG',
    edits: [
      {
        file: 'subgraphs/media/tasks/work/start/recovery.ts',
        from: "if (found === 'not-now') return false;",
        to: "if (found === 'not-now' || cause === undefined) return false;",
      },
    ],
  },
  {
    name: 'a start of which nothing is known is sent again',
    finds: 'starts at the provider .*WRONG',
    edits: [
      {
        file: 'subgraphs/media/tasks/work/start/recovery.ts',
        from: "if (first !== 'absent') return first;",
        to: "if (first !== 'absent') return 'absent';",
      },
    ],
  },
  {
    name: 'an entry of a log is numbered and not written',
    finds: 'logs without a gap .*WRONG',
    edits: [
      {
        file: 'subgraphs/media/tasks/storage/event-store.ts',
        from: 'select id, last_seq, state, stage, progress, progress_estimated, clock_timestamp() from moved',
        to: "select id, last_seq, state, stage, progress, progress_estimated, clock_timestamp() from moved\n      where stage <> 'queued upstream'",
      },
    ],
  },
];
