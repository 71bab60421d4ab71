import { boundedFirst, checkedCursor } from '../../../platform/paging.ts';
import type { Execution as ExecutionShape } from '../domain/execution.ts';
import type { Page } from '../domain/page.ts';
import { builder, connection } from './builder.ts';
import { namedUser } from './context.ts';
import { Execution, ExecutionProgress } from './execution.ts';

/** A page of executions. */
export const ExecutionConnection = connection(Execution, {
  name: 'Execution',
  readItems: ({ items }: Page<ExecutionShape>) => items,
  readCount: ({ count }) => count(),
});

builder.queryField('execution', (t) =>
  t.field({
    type: Execution,
    nullable: true,
    description:
      "One execution, by exactly one of its ids; null when there is none, or it is somebody else's.",
    rule: 'anyone',
    args: {
      id: t.arg.id({ description: 'Its id.' }),
      taskId: t.arg.id({ description: 'The id of its task.' }),
      externalId: t.arg.string({ description: 'The id the caller chose.' }),
    },
    async resolve(_, key, { caller, services, proved }) {
      const execution = await services.executions.find(caller, key);
      // Its task's id is known to whoever started it alone; its own id is listed.
      if (execution !== null && key.taskId) proved.add(execution.id);
      return execution;
    },
  }),
);

builder.queryField('executions', (t) =>
  t.field({
    type: ExecutionConnection,
    description:
      "The caller's own executions, newest first; empty without a caller, unless somebody is named who has never signed in.",
    rule: 'owner',
    args: {
      userId: t.arg.id({
        description: 'Only those that run for this user; `totalCount` counts all of them.',
      }),
      first: t.arg.int({ required: true, defaultValue: 50, description: 'From 1 to 1000.' }),
      after: t.arg.string({ description: 'Cursor of the last execution already seen.' }),
    },
    resolve: async (_, asked, context) => {
      const page = { first: boundedFirst(asked.first, 1000), after: checkedCursor(asked.after) };
      const userId = await namedUser(context, asked.userId);
      return context.services.executions.list(context.caller, { userId, ...page });
    },
  }),
);

builder.mutationField('executeTemplate', (t) =>
  t.field({
    type: Execution,
    description: 'Runs a template. The answer has the id of its task at once.',
    rule: 'unpaid',
    args: {
      code: t.arg.id({ required: true, description: 'The code of an active template.' }),
      parameters: t.arg({
        type: 'JSON',
        required: true,
        description: "What the template's `parameters` ask for, an object.",
      }),
      onBehalfOf: t.arg.id({ description: 'For whom it runs: users name themselves, service keys anyone.' }),
      externalId: t.arg.string({
        description: 'An id of your own, 1 to 128 letters, digits, dots, _ and -, unique per owner.',
      }),
      idempotencyKey: t.arg.string({
        description:
          'The same key and input again answer the same execution; other input under it is IDEMPOTENCY_CONFLICT.',
      }),
    },
    resolve: async (_, { onBehalfOf, externalId = null, idempotencyKey = null, ...request }, context) =>
      context.services.executions.execute(context.caller, {
        ...request,
        onBehalfOf: await namedUser(context, onBehalfOf || null),
        externalId,
        idempotencyKey,
      }),
  }),
);

builder.subscriptionField('executionProgress', (t) =>
  t.field({
    type: ExecutionProgress,
    description: "Every entry of an execution's log after `afterSeq`, then the live ones, until it ends.",
    rule: 'anyone',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the execution.' }),
      afterSeq: t.arg.int({ description: 'Seq of the last entry already seen; absent means everything.' }),
    },
    subscribe: (_, { id, afterSeq }, { caller, services, signal }) =>
      services.executions.watch(caller, id, afterSeq ?? 0, signal),
    resolve: (event, _, { loaders }) => {
      loaders.forget();
      return event;
    },
  }),
);
