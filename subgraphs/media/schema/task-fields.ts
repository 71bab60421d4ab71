import type { GraphQLResolveInfo } from 'graphql';

import {
  neededMembers,
  oncePerSelection,
  selectsAny,
} from '../../../platform/graphql/schema/needed-members.ts';
import { boundedFirst, checkedCursor, givenMembers } from '../../../platform/paging.ts';
import type { TaskPage } from '../domain/task.ts';
import type { TaskNeeds } from '../tasks/rules/task-service.ts';
import { builder, connection } from './builder.ts';
import { Task, TaskKind, TaskProgress, TaskState } from './task.ts';

const TaskConnection = connection(Task, {
  name: 'Task',
  readItems: ({ tasks }: TaskPage & { readonly after: string | null }) => tasks,
  readCount: ({ count }) => count(),
});

/** Which tasks a list or an operation is of. */
export const TaskFilter = builder.inputType('TaskFilter', {
  description: 'Which tasks to list; every member that is set must match.',
  fields: (t) => ({
    states: t.field({ type: [TaskState], description: 'In one of these states.' }),
    kinds: t.field({ type: [TaskKind], description: 'Of one of these kinds.' }),
    generator: t.string({ description: 'At this generator.' }),
    model: t.string({ description: 'Asked for with this model, or done by it.' }),
    text: t.string({ description: 'With this text in the prompt, or in what is said, in any case.' }),
    owner: t.string({
      description:
        'Of this owner (usr_..., key_..., or anon for nobody); only admins have others than themselves.',
    }),
    file: t.id({ description: 'With this file (the id of a Media) among its inputs.' }),
    createdAfter: t.field({ type: 'DateTime', description: 'Accepted after this moment.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Accepted before this moment.' }),
  }),
});

const neededOfOne = neededAt();
const neededOfPage = neededAt('edges', 'node');

/** What an operation needs of the tasks at the end of a path of fields, found once for its document. */
function neededAt(...path: readonly string[]): (info: GraphQLResolveInfo) => TaskNeeds {
  return oncePerSelection((info) => ({
    isNeeded: neededMembers(info, path) ?? (() => false),
    isFileNeeded: neededMembers(info, [...path, 'outputs']),
  }));
}

builder.queryField('task', (t) =>
  t.field({
    type: Task,
    nullable: true,
    description: "One task by its id; null when there is none, or it is somebody else's.",
    rule: 'anyone',
    args: { id: t.arg.id({ required: true, description: 'The id of the task.' }) },
    resolve: async (_, { id }, { caller, services }, info) => {
      const [task] = await services.tasks.readMany(caller, [id], neededOfOne(info));
      return task ?? null;
    },
  }),
);

builder.queryField('tasks', (t) =>
  t.field({
    type: TaskConnection,
    description: "The caller's own tasks, newest first; empty without a caller. Admins see all.",
    rule: 'owner',
    args: {
      filter: t.arg({ type: TaskFilter, description: 'Which ones.' }),
      first: t.arg.int({ required: true, defaultValue: 50, description: 'From 1 to 200.' }),
      after: t.arg.string({ description: 'Cursor of the last task already seen.' }),
    },
    resolve: async (_, { filter, first, after }, { caller, services }, info) => {
      const page = {
        first: boundedFirst(first, 200),
        after: checkedCursor(after),
        ...neededOfPage(info),
      };
      return { after: page.after, ...(await services.tasks.list(caller, givenMembers(filter ?? {}), page)) };
    },
  }),
);

builder.mutationField('cancelTask', (t) =>
  t.field({
    type: Task,
    description: 'Asks a task to stop. TOO_LATE once its result is being stored or it has ended.',
    rule: 'owner',
    args: { id: t.arg.id({ required: true, description: 'The id of the task.' }) },
    resolve: (_, { id }, { caller, services }) => services.tasks.cancel(caller, id),
  }),
);

builder.mutationField('deleteTask', (t) =>
  t.field({
    type: 'Boolean',
    description:
      'Deletes a task of the caller that has ended, with the files that it made, its prompt, its log and its attempts; totals of usage stay. NOT_FOUND for the tasks of others, and for those of callers without a credential unless `manageToken` proves who made them; CONFLICT while it runs, and in the first 30 days of the task of an execution.',
    rule: 'owner',
    audited: true,
    args: {
      id: t.arg.id({ required: true, description: 'The id of the task.' }),
      manageToken: t.arg.string({
        description: 'What the submission answered to a caller without a credential.',
      }),
    },
    resolve: async (_, { id, manageToken }, { caller, services }) => {
      await services.tasks.remove(caller, id, manageToken ?? null);
      return true;
    },
  }),
);

builder.mutationField('eraseOwner', (t) =>
  t.field({
    type: 'Boolean',
    description: 'Cancels what an owner has running, and erases all of theirs as it ends. Again is harmless.',
    rule: 'service',
    inaccessible: true,
    args: { owner: t.arg.string({ required: true, description: 'The owner: `usr_...`.' }) },
    resolve: async (_, { owner }, { services }) => {
      await services.tasks.eraseOwner(owner);
      return true;
    },
  }),
);

builder.subscriptionField('taskProgress', (t) =>
  t.field({
    type: TaskProgress,
    description: "Every entry of a task's log after `afterSeq`, then the live ones, until the task ends.",
    rule: 'anyone',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the task.' }),
      afterSeq: t.arg.int({ description: 'Seq of the last entry already seen; absent means everything.' }),
    },
    subscribe: (_, { id, afterSeq }, { caller, services, signal }) =>
      services.tasks.watch(caller, id, afterSeq ?? 0, signal),
    resolve: (event, _, { loaders }) => {
      loaders.forget();
      return event;
    },
  }),
);

const CURSOR: ReadonlySet<string> = new Set(['cursor']);

builder.subscriptionField('tasksProgress', (t) =>
  t.field({
    type: TaskProgress,
    description:
      'Progress of all tasks of the caller, or of everyone for administrators: the newest entry of each that has not ended, then every entry, also of tasks that start later (within a second). At most 1,000 are followed at once; others join as these end. Known callers only; it does not end by itself.',
    rule: 'owner',
    args: {
      everyone: t.arg.boolean({
        required: true,
        defaultValue: false,
        description: 'The tasks of everyone. For administrators; FORBIDDEN for others.',
      }),
      after: t.arg.string({
        description:
          '`cursor` of the last entry that was seen: begins after it in every log, also of tasks that have ended since, so that nothing is missed after a lost connection. Entries may come again only where more than 256 tasks have moved within ten seconds. The other two then say nothing.',
      }),
      endedSince: t.arg({
        type: 'DateTime',
        description: 'Begins also with the last entry of tasks that have ended after this moment.',
      }),
      since: t.arg({
        type: 'DateTime',
        description:
          'Begins with every entry after this moment in place of the newest ones, also of tasks that have ended since; `endedSince` then says nothing. One moment for all logs can miss entries that are written as a connection is lost: `after` does not.',
      }),
    },
    subscribe: (
      _,
      { everyone, after = null, endedSince = null, since = null },
      { caller, services, signal },
      info,
    ) => {
      const isPlaced = selectsAny(info, CURSOR);
      return services.tasks.watchOwned(caller, { everyone, after, endedSince, since, signal, isPlaced });
    },
    resolve: (event, _, { loaders }) => {
      loaders.forget();
      return event;
    },
  }),
);
