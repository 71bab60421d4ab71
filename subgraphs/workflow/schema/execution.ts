import { notFound } from '../../../platform/errors.ts';
import type {
  Execution as ExecutionShape,
  ExecutionError as ExecutionErrorShape,
  ExecutionEvent,
  executionStatuses,
} from '../domain/execution.ts';
import { isRedacted, withheld } from '../domain/redaction.ts';
import { builder } from './builder.ts';
import type { WorkflowContext } from './context.ts';
import { Template, loadTemplate } from './template.ts';

/** Where an execution stands. */
const ExecutionStatus = builder.enumType('ExecutionStatus', {
  description: 'Where an execution stands; only forward.',
  values: {
    PENDING: { description: 'Accepted; the media service does not have its task yet.' },
    RUNNING: { description: 'The media service has its task, waiting or working.' },
    COMPLETED: { description: 'Its task has succeeded.' },
    FAILED: { description: 'Its task has failed, or could not be started; `error` says why.' },
    CANCELLED: { description: 'Its task was cancelled.' },
  } satisfies Record<(typeof executionStatuses)[number], { description: string }>,
});

/** The media subgraph's task, extended by the execution it belongs to. */
const Task = builder.objectRef<{ readonly id: string }>('Task');
/** One run of a template. */
export const Execution = builder.objectRef<ExecutionShape>('Execution');

// These two descriptions are the media subgraph's own: composition gives hints when they differ.
Task.implement({
  description: 'One piece of long work, with a state, a stage, a progress and a log of events.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unguessable, time-ordered id (UUID v7).' }),
    execution: t.field({
      type: Execution,
      nullable: true,
      description: 'The execution it belongs to; null when it was not started by a template.',
      async resolve({ id }, _, { loaders, proved }) {
        const execution = await loaders.executionsByTask.load(id);
        if (execution !== null) proved.add(execution.id);
        return execution;
      },
    }),
  }),
});

builder.asEntity(Task, {
  key: builder.selection<{ id: string }>('id'),
  resolveReference: ({ id }) => ({ id }),
});

const ExecutionError = builder.objectRef<ExecutionErrorShape>('ExecutionError').implement({
  description: 'Why an execution failed.',
  fields: (t) => ({
    code: t.exposeString('code', {
      description: "The task's failure code, or the code with which its start was refused.",
    }),
    message: t.exposeString('message', { description: 'What went wrong, in a sentence for people.' }),
  }),
});

Execution.implement({
  description: 'One run of a template; owns exactly one task.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unguessable, time-ordered id (UUID v7).' }),
    externalId: t.string({
      nullable: true,
      description: 'An id the caller chose, unique per owner.',
      resolve: (execution, _, context) => (isRedacted(execution, context) ? null : execution.externalId),
    }),
    taskId: t.id({
      description:
        'The id of its task, known before the media service has the task. FORBIDDEN for strangers where nobody with a credential started it.',
      resolve(execution, _, context) {
        if (isRedacted(execution, context)) throw withheld('taskId');
        return execution.taskId;
      },
    }),
    task: t.field({
      type: Task,
      nullable: true,
      description: 'Its task; null until the media service has it (for ever when the start was refused).',
      resolve: (execution, _, context) =>
        execution.startedAt === null || isRedacted(execution, context) ? null : { id: execution.taskId },
    }),
    template: t.field({
      type: Template,
      description: 'What it runs.',
      resolve: ({ templateCode }, _, context) => loadTemplate(templateCode, context),
    }),
    userId: t.exposeID('userId', { nullable: true, description: 'For whom it runs, when that was said.' }),
    status: t.expose('status', { type: ExecutionStatus, description: 'Where it stands.' }),
    stage: t.string({
      description:
        'What is happening now, in a few English words; as a code: `status`, and `stageInfo` of its `task`.',
      resolve: async (execution, _, context) => (await loadLive(execution, context)).stage,
    }),
    progress: t.int({
      description: '0 to 100.',
      resolve: async (execution, _, context) => (await loadLive(execution, context)).progress,
    }),
    parameters: t.field({
      type: 'JSON',
      description:
        'What it was started with; nothing for strangers where nobody with a credential started it.',
      resolve: (execution, _, context) => (isRedacted(execution, context) ? {} : execution.parameters),
    }),
    error: t.expose('error', { type: ExecutionError, nullable: true, description: 'Why it failed.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was accepted.' }),
    endedAt: t.expose('endedAt', { type: 'DateTime', nullable: true, description: 'When it ended.' }),
  }),
});

builder.asEntity(Execution, {
  key: builder.selection<{ id: string }>('id'),
  resolveReference: ({ id }, { loaders }) => loaders.executions.load(id),
});

/** One entry of an execution's log. */
export const ExecutionProgress = builder.objectRef<ExecutionEvent>('ExecutionProgress').implement({
  description: "One entry of an execution's log, which is its task's log.",
  fields: (t) => ({
    seq: t.exposeInt('seq', { description: "The seq of the task's entry." }),
    at: t.expose('at', { type: 'DateTime', description: 'When it was written.' }),
    status: t.expose('status', { type: ExecutionStatus, description: 'The status from then on.' }),
    stage: t.exposeString('stage', {
      description:
        'What was happening, in a few English words; as a code: `status`, and `stageInfo` of the task of `execution`.',
    }),
    progress: t.exposeInt('progress', { description: '0 to 100; never falls.' }),
    execution: t.field({
      type: Execution,
      description: 'The execution as it is at delivery, which may be ahead of this entry.',
      resolve: async ({ executionId }, _, { loaders }) => {
        const execution = await loaders.executions.load(executionId);
        if (execution === null) throw notFound('execution', executionId);
        return execution;
      },
    }),
  }),
});

/** While it runs, media has the current stage and progress. */
async function loadLive(execution: ExecutionShape, { loaders }: WorkflowContext) {
  if (execution.status !== 'RUNNING') return execution;
  return (await loaders.liveTasks.load(execution.taskId)) ?? execution;
}
