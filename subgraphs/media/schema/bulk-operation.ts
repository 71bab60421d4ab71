import { boundedFirst, givenMembers } from '../../../platform/paging.ts';
import type { BulkOperation as BulkOperationShape, bulkActions, bulkStates } from '../tasks/bulk/bulk.ts';
import { builder } from './builder.ts';
import { TaskFilter } from './task-fields.ts';

const BulkAction = builder.enumType('BulkAction', {
  description: 'What is done to each task of a bulk operation.',
  values: {
    CANCEL: { description: 'It is asked to stop.' },
    RESTART: { description: 'The same is started once more, as a task of its own.' },
  } satisfies Record<(typeof bulkActions)[number], { description: string }>,
});

const BulkState = builder.enumType('BulkState', {
  description: 'Where a bulk operation stands.',
  values: {
    RUNNING: { description: 'Tasks are left.' },
    DONE: { description: 'It has come to the last one.' },
    STOPPED: { description: 'Somebody has stopped it before.' },
  } satisfies Record<(typeof bulkStates)[number], { description: string }>,
});

const BulkOperation = builder.objectRef<BulkOperationShape>('BulkOperation').implement({
  description: 'One action on all tasks that matched a filter, which goes on by itself; kept for 30 days.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id (UUID v7).' }),
    owner: t.exposeString('owner', { description: 'Who began it.' }),
    action: t.expose('action', { type: BulkAction, description: 'What is done to each task.' }),
    state: t.expose('state', { type: BulkState, description: 'Where it stands.' }),
    total: t.exposeInt('total', { description: 'How many tasks matched when it began.' }),
    done: t.exposeInt('done', { description: 'Tasks that it was done to.' }),
    refused: t.exposeInt('refused', {
      description: 'Tasks that it could not be done to, as those that have ended meanwhile.',
    }),
    problem: t.exposeString('problem', {
      nullable: true,
      description: 'Why the first of them was refused, in English words.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it began.' }),
    endedAt: t.expose('endedAt', { type: 'DateTime', nullable: true, description: 'When it ended.' }),
  }),
});

const REFUSALS =
  'UNAUTHENTICATED without a caller; BAD_USER_INPUT for more than 10,000 tasks; CONFLICT while five operations of the caller run.';

builder.queryField('bulkOperations', (t) =>
  t.field({
    type: [BulkOperation],
    description: "The caller's own operations on many tasks, newest first; administrators see all.",
    rule: 'owner',
    args: { first: t.arg.int({ required: true, defaultValue: 20, description: 'From 1 to 100.' }) },
    resolve: async (_, { first }, { caller, services }) => [
      ...(await services.bulk.list(caller, boundedFirst(first, 100))),
    ],
  }),
);

builder.mutationFields((t) => ({
  cancelTasks: t.field({
    type: BulkOperation,
    description: `Asks all tasks that match now and have not ended to stop: the caller's own, those of everybody for administrators. ${REFUSALS}`,
    rule: 'owner',
    audited: true,
    args: { filter: t.arg({ type: TaskFilter, required: true, description: 'Which ones.' }) },
    resolve: (_, { filter }, { caller, services }) =>
      services.bulk.begin(caller, 'CANCEL', givenMembers(filter)),
  }),
  restartTasks: t.field({
    type: BulkOperation,
    description: `Starts all tasks that match now and have ended once more, oldest first, with the same inputs: the caller's own, those of everybody for administrators. With the state FAILED it is a retry. Each belongs to the owner of the one before and counts against their budgets; what an execution started is left out. A full queue, and a budget that has room again within a minute, are waited for. ${REFUSALS}`,
    rule: 'spend',
    audited: true,
    args: { filter: t.arg({ type: TaskFilter, required: true, description: 'Which ones.' }) },
    resolve: (_, { filter }, { caller, services }) =>
      services.bulk.begin(caller, 'RESTART', givenMembers(filter)),
  }),
  stopBulkOperation: t.field({
    type: BulkOperation,
    description: 'Ends an operation before its next task; what it has done stays.',
    rule: 'owner',
    audited: true,
    args: {
      id: t.arg.id({
        required: true,
        description: 'The id of the BulkOperation. NOT_FOUND for those of others.',
      }),
    },
    resolve: (_, { id }, { caller, services }) => services.bulk.stop(caller, id),
  }),
}));
