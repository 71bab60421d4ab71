import { boundedFirst, checkedCursor, pageInfoOf } from '../../../platform/graphql/schema/paging.ts';
import type { Execution as ExecutionShape, ExecutionPage } from '../domain/execution.ts';
import { builder } from './builder.ts';
import { namedUser } from './context.ts';
import { Execution, ExecutionProgress } from './execution.ts';
import { PageInfo } from './page-info.ts';

const ExecutionEdge = builder.objectRef<ExecutionShape>('ExecutionEdge').implement({
  description: 'An execution within a list.',
  fields: (t) => ({
    cursor: t.exposeString('id', { description: 'Send it as `after` to go on behind this execution.' }),
    node: t.field({ type: Execution, description: 'The execution.', resolve: (execution) => execution }),
  }),
});

/** A page of executions. */
export const ExecutionConnection = builder
  .objectRef<ExecutionPage & { readonly after: string | null }>('ExecutionConnection')
  .implement({
    description: 'A page of executions, newest first.',
    fields: (t) => ({
      edges: t.field({
        type: [ExecutionEdge],
        description: 'The executions.',
        resolve: ({ executions }) => [...executions],
      }),
      totalCount: t.int({
        description: 'How many there are on all pages.',
        resolve: ({ count }) => count(),
      }),
      pageInfo: t.field({
        type: PageInfo,
        description: 'Where this page stands.',
        resolve: ({ executions, ...page }) => pageInfoOf(executions, page),
      }),
    }),
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
    resolve: (_, key, { caller, services }) => services.executions.find(caller, key),
  }),
);

builder.queryField('executions', (t) =>
  t.field({
    type: ExecutionConnection,
    description:
      "The caller's own executions, newest first; empty without a caller, unless somebody is named who has never signed in.",
    rule: 'owner',
    args: {
      userId: t.arg.id({ description: 'Only those that run for this user.' }),
      first: t.arg.int({ required: true, defaultValue: 50, description: 'From 1 to 1000.' }),
      after: t.arg.string({ description: 'Cursor of the last execution already seen.' }),
    },
    resolve: async (_, asked, context) => {
      const page = { first: boundedFirst(asked.first, 1000), after: checkedCursor(asked.after) };
      const userId = await namedUser(context, asked.userId);
      return { ...page, ...(await context.services.executions.list(context.caller, { userId, ...page })) };
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
        description: 'The same key and input again answer the same execution.',
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
