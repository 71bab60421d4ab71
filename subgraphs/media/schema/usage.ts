import type { usageDimensions, UsageRow } from '../usage/usage.ts';
import { builder } from './builder.ts';
import { Cost } from './cost.ts';

const UsageDimension = builder.enumType('UsageDimension', {
  description: 'What usage is grouped by.',
  values: {
    DAY: { description: 'Day of the end, in UTC.' },
    MODEL: { description: 'Model of the provider.' },
    GENERATOR: { description: 'Generator that was named.' },
    PROVIDER: { description: 'Provider that did it.' },
    OWNER: { description: 'User or service key that it belongs to.' },
    KEY: { description: 'Service key alone; users are together in one row.' },
  } satisfies Record<(typeof usageDimensions)[number], { description: string }>,
});

const Usage = builder.objectRef<UsageRow>('Usage').implement({
  description: 'What was used, in total of one group. A dimension that was not requested is null.',
  fields: (t) => ({
    day: t.exposeString('day', { nullable: true, description: 'YYYY-MM-DD in UTC.' }),
    model: t.exposeString('model', { nullable: true, description: 'Model; null also for none.' }),
    generator: t.exposeString('generator', { nullable: true, description: 'Generator.' }),
    provider: t.exposeString('provider', {
      nullable: true,
      description: 'Provider; null also for tasks that ended before their first start.',
    }),
    owner: t.exposeString('owner', {
      nullable: true,
      description:
        'usr_... or key_...; `sold` for everything that was bought, which is in no usage of the buyers; null also for callers without a credential.',
    }),
    key: t.exposeString('key', { nullable: true, description: 'key_...; null also for everybody else.' }),
    succeeded: t.exposeInt('succeeded', { description: 'Tasks that ended well.' }),
    failed: t.exposeInt('failed', { description: 'Tasks that failed.' }),
    cancelled: t.exposeInt('cancelled', { description: 'Tasks that were cancelled.' }),
    attempts: t.exposeInt('attempts', { description: 'Starts at providers that have ended.' }),
    chats: t.exposeInt('chats', { description: 'Chats that were answered.' }),
    unpriced: t.exposeInt('unpriced', {
      description: 'Attempts and chats whose cost is unknown: they are not in `cost.amount`.',
    }),
    cost: t.field({
      type: Cost,
      description:
        'The sum of all known costs, null when none is known; and of everything that was measured.',
      resolve: ({ microUnits, currency, units }) => ({ microUnits, currency, units, estimated: false }),
    }),
  }),
});

builder.queryField('usage', (t) =>
  t.field({
    type: [Usage],
    description:
      "What was used and what it cost: the caller's own, everybody's for administrators. From totals that are written with each end, so it is exact at once.",
    rule: 'owner',
    args: {
      by: t.arg({ type: [UsageDimension], required: true, description: 'What to group by; empty: one row.' }),
      from: t.arg({
        type: 'DateTime',
        description: 'A moment of the first day (default: 29 days before to).',
      }),
      to: t.arg({ type: 'DateTime', description: 'A moment of the last day (default: today).' }),
      sandbox: t.arg.boolean({
        description: 'Only what ran on the sandbox, or only what did not; absent means both.',
      }),
    },
    resolve: async (_, request, { caller, services }) => [...(await services.usage.usage(caller, request))],
  }),
);
