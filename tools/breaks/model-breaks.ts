import type { Break } from './break.ts';

const ATTEMPTS = 'subgraphs/media/tasks/storage/attempt-store.ts';
const EVENTS = 'subgraphs/media/tasks/storage/event-store.ts';
const REFUNDS = 'subgraphs/workflow/payments/automatic-refunds.ts';
const SWEEP = 'subgraphs/media/tasks/work/sweep.ts';
const END_ATTEMPT = 'subgraphs/media/tasks/work/attempts/end-attempt.ts';
const POLL_ATTEMPT = 'subgraphs/media/tasks/work/progress/poll-attempt.ts';

/** What the model of the task engine finds (`npm run breaks -- model`). */
export const MODEL_BREAKS: readonly Break[] = [
  {
    name: 'a claim is taken over before it is stale',
    finds: 'bought twice|too many at',
    edits: [
      {
        file: ATTEMPTS,
        from: 'and claim is not null and claimed_at < now() - make_interval(secs => ${staleSeconds})',
        to: 'and claim is not null and ${staleSeconds}::integer > 0',
      },
      {
        file: ATTEMPTS,
        from: 'sql<boolean>`claimed_at < now() - make_interval(secs => ${staleSeconds})`',
        to: 'sql<boolean>`claimed_at is not null and ${staleSeconds}::integer > 0`',
      },
    ],
  },
  {
    name: 'a start is sent by two workers at once',
    finds: 'sent twice',
    within: 300,
    edits: [
      {
        file: ATTEMPTS,
        from: "attempt.state = 'STARTING' and attempt.claim is null",
        to: "attempt.state = 'STARTING'",
      },
    ],
  },
  {
    name: 'work that was cancelled is sent',
    finds: 'claimed after the cancel',
    edits: [
      {
        file: ATTEMPTS,
        from: "and task.id = attempt.task_id and task.state in ('QUEUED', 'RUNNING') and task.cancel_requested_at is null",
        to: 'and task.id = attempt.task_id',
      },
      {
        file: 'subgraphs/media/tasks/rules/cancel.ts',
        from: '  await closeUnsentAttempts(transaction, task.id);\n',
        to: '',
      },
      {
        file: 'subgraphs/media/tasks/work/start/open-attempt.ts',
        from: "if (task === null || task.cancelRequestedAt !== null) return { kind: 'gone' };",
        to: "if (task === null) return { kind: 'gone' };",
      },
    ],
  },
  {
    name: 'a slot is taken though there is no room',
    finds: 'too many at',
    within: 50,
    edits: [
      {
        file: 'subgraphs/media/tasks/work/start/claim.ts',
        from: "if ((await readRoom(transaction, binding)).free <= 0) return 'full';",
        to: '',
      },
    ],
  },
  {
    name: 'a start of which nothing is known is made again',
    finds: 'bought twice',
    within: 300,
    edits: [
      {
        file: 'subgraphs/media/tasks/work/start/recovery.ts',
        from: 'const unknown = startUnknown({ retry: binding.retryUnknownStart, cause })',
        to: 'const unknown = startUnknown({ retry: true, cause })',
      },
    ],
  },
  {
    name: 'the answer of a start that comes late is dropped, and its work runs on',
    finds: 'nobody knew',
    edits: [
      {
        file: 'subgraphs/media/tasks/work/start/start-job.ts',
        from: 'const isReopened = await reopen(dependencies, context.attempt, handle);',
        to: 'const isReopened = false;',
      },
    ],
  },
  {
    name: 'a task goes on after its end',
    finds: '(events|end is told)',
    edits: [
      {
        file: EVENTS,
        from: `where task.id in (select "taskId" from entry) and task.state in ('QUEUED', 'RUNNING')`,
        to: 'where task.id in (select "taskId" from entry)',
      },
      {
        file: EVENTS,
        from: "        and task.state in ('QUEUED', 'RUNNING')\n        and (entry.state is distinct",
        to: '        and (entry.state is distinct',
      },
      {
        file: 'subgraphs/media/tasks/storage/task-store.ts',
        from: 'return task === null || isFinal(task.state) ? null : task;',
        to: 'return task;',
      },
      { file: END_ATTEMPT, from: '    if (isFinal(task.state)) return true;\n', to: '' },
    ],
  },
  {
    name: 'what runs for a task that has ended is not cancelled',
    finds: 'runs on after the end',
    edits: [
      {
        file: POLL_ATTEMPT,
        from: 'if (due.cancelRequested || due.superseded || isFinal(due.taskState)) {',
        to: 'if (due.cancelRequested) {',
      },
    ],
  },
  {
    name: 'a cancel that comes during a status call waits for the next one',
    finds: 'not asked to stop',
    edits: [
      {
        file: 'subgraphs/media/tasks/storage/poll-store.ts',
        from: `and attempt.next_poll_at = entry."leasedUntil"`,
        to: '',
      },
    ],
  },
  {
    name: 'a lost job is not enqueued again',
    finds: 'does not end',
    within: 100,
    edits: [{ file: SWEEP, from: '    await scope.enqueue(...jobs);\n', to: '    void jobs;\n' }],
  },
  {
    name: 'a lost job of a finished result is not enqueued again',
    finds: 'does not end',
    edits: [
      {
        file: 'subgraphs/media/tasks/storage/sweep-store.ts',
        from: "where step.state in ('QUEUED', 'RUNNING', 'STORING') and not exists (",
        to: "where step.state in ('QUEUED', 'RUNNING') and not exists (",
      },
    ],
  },
  {
    name: 'what was paid for a failed execution is not due',
    finds: 'failed and not given back',
    within: 50,
    edits: [{ file: REFUNDS, from: '.set({ refundDue: true })', to: '.set({ refundDue: false })' }],
  },
  {
    name: 'one refund settles all that are due',
    finds: 'failed and not given back',
    within: 100,
    edits: [{ file: REFUNDS, from: "    .where('id', '=', id)\n", to: "    .where('id', 'is not', null)\n" }],
  },
  {
    name: 'a refund whose answer was lost is made again',
    finds: 'refunded twice',
    edits: [
      {
        file: 'subgraphs/workflow/payments/refunds.ts',
        from: '(isRepeatable ? await provider.findRefund({ refundId: id, paymentIntentId }) : null) ??',
        to: '(isRepeatable && false ? await provider.findRefund({ refundId: id, paymentIntentId }) : null) ??',
      },
    ],
  },
];
