import { notFound } from '../../../platform/errors.ts';
import { reads } from '../../../platform/graphql/schema/needed-members.ts';
import { boundedFirst } from '../../../platform/paging.ts';
import { traceIdIn } from '../../../platform/tracing/span.ts';
import type { TaskEvent, TaskKind as TaskKindWord, taskStates } from '../domain/task.ts';
import { workKinds } from '../domain/work/work.ts';
import type { ReadTask } from '../tasks/rules/task-service.ts';
import { builder } from './builder.ts';
import type { MediaContext } from './context.ts';

/** The five states, only forward. */
export const TaskState = builder.enumType('TaskState', {
  description: 'Where a task stands; only forward.',
  values: {
    QUEUED: { description: 'Accepted and waiting for its turn.' },
    RUNNING: { description: 'Being worked on.' },
    SUCCEEDED: { description: 'Finished; its outputs are stored.' },
    FAILED: { description: 'Ended without result; `error` says why.' },
    CANCELLED: { description: 'Ended by a cancel request.' },
  } satisfies Record<(typeof taskStates)[number], { description: string }>,
});

/** What a task makes. */
export const TaskKind = builder.enumType('TaskKind', {
  description: 'What a task makes.',
  values: {
    RECIPE: { description: 'Several steps, named by the task type of a video template.' },
    ...workKinds,
  } satisfies Record<TaskKindWord, { description: string }>,
});

/** One piece of long work. */
export const Task = builder.objectRef<ReadTask>('Task');

/** One entry of a task's log. */
export const TaskProgress = builder.objectRef<TaskEvent>('TaskProgress').implement({
  description: "One numbered entry of a task's log.",
  fields: (t) => ({
    seq: t.exposeInt('seq', { description: 'Number of the entry, from 1 without gaps.' }),
    at: t.expose('at', { type: 'DateTime', description: 'When it was written.' }),
    state: t.expose('state', { type: TaskState, description: 'The state from then on.' }),
    stage: t.exposeString('stage', { description: 'What was happening, in a few English words.' }),
    progress: t.exposeInt('progress', { description: '0 to 100; never falls.' }),
    progressEstimated: t.exposeBoolean('progressEstimated', {
      description:
        'Whether the number is our estimate, as the upstream reports none: the time so far over what this generator and model usually take.',
    }),
    cursor: t.string({
      nullable: true,
      description:
        'Where a follower of `tasksProgress` is with this entry, for its `after`: opaque, at most 6,500 characters. Null elsewhere.',
      resolve: (event) => ('cursor' in event && typeof event.cursor === 'string' ? event.cursor : null),
    }),
    task: t.field({
      type: Task,
      description: 'The task as it is at delivery, which may be ahead of this entry.',
      resolve: ({ taskId }, _, context) => loadTask(taskId, context),
    }),
  }),
});

Task.implement({
  description: 'One piece of long work, with a state, a stage, a progress and a log of events.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Unguessable, time-ordered id (UUID v7).' }),
    kind: t.expose('kind', { type: TaskKind, description: 'What it makes.' }),
    generator: t.exposeString('generator', { description: 'The generator that does the work.' }),
    taskType: t.exposeString('taskType', {
      nullable: true,
      description: 'Task type of the video template, for recipes.',
    }),
    sandbox: t.exposeBoolean('sandbox', {
      description: 'Whether any attempt ran on the sandbox instead of a real upstream.',
    }),
    state: t.expose('state', { type: TaskState, description: 'Where it stands.' }),
    stage: t.exposeString('stage', { description: 'What is happening now, in a few English words.' }),
    progress: t.exposeInt('progress', { description: '0 to 100; never falls.' }),
    progressEstimated: t.exposeBoolean('progressEstimated', {
      description:
        'Whether the number is our estimate, as the upstream reports none: the time so far over what this generator and model usually take.',
    }),
    queuePosition: t.int({
      nullable: true,
      description: 'Position in the queue (1 = next), about a second old; null once it runs.',
      extensions: reads<ReadTask>('id', 'state'),
      resolve: (task, _, { services }) => services.tasks.queuePosition(task),
    }),
    cancelRequestedAt: t.expose('cancelRequestedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When its cancellation was requested.',
    }),
    lastSeq: t.exposeInt('lastSeq', { description: 'Number of the newest entry of its log.' }),
    events: t.field({
      type: [TaskProgress],
      description: 'Entries of its log, oldest first.',
      args: {
        after: t.arg.int({ description: 'Only entries with a greater seq.' }),
        first: t.arg.int({ required: true, defaultValue: 100, description: 'From 1 to 1000.' }),
      },
      extensions: reads<ReadTask>('id'),
      resolve: async ({ id }, { after, first }, { services }) => [
        ...(await services.tasks.events(id, after ?? 0, boundedFirst(first, 1000))),
      ],
    }),
    traceId: t.string({
      nullable: true,
      description:
        'Id of the trace in which it was submitted: joins it to X-Trace-Id, the log, and the traces of the operator.',
      extensions: reads<ReadTask>('traceparent'),
      resolve: ({ traceparent }) => traceIdIn(traceparent),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was accepted.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', nullable: true, description: 'When work began.' }),
    endedAt: t.expose('endedAt', { type: 'DateTime', nullable: true, description: 'When it ended.' }),
    manageToken: t.string({
      nullable: true,
      description:
        'What `deleteMedia` takes to delete the files it makes. Only in the answer to the submission of a caller without a credential, once.',
      extensions: reads<ReadTask>('manageToken'),
      resolve: ({ manageToken }) => manageToken ?? null,
    }),
  }),
});

builder.asEntity(Task, {
  key: builder.selection<{ id: string }>('id'),
  resolveReference: ({ id }, { loaders }) => loaders.tasks.load(id),
});

/** The task of something that belongs to it. */
export async function loadTask(id: string, { loaders }: MediaContext): Promise<ReadTask> {
  const task = await loaders.tasks.load(id);
  if (task === null) throw notFound('task', id);
  return task;
}
