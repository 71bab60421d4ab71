import type { AuditEntry as AuditEntryShape } from '../../../platform/audit/audit-log.ts';
import { badInput } from '../../../platform/errors.ts';
import { boundedFirst } from '../../../platform/graphql/schema/paging.ts';
import { builder } from './builder.ts';

const AuditEntry = builder.objectRef<AuditEntryShape>('AuditEntry').implement({
  description:
    'What somebody did that concerns others. Entries are never changed; AUDIT_RETENTION_DAYS ends them.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Rises with time.' }),
    at: t.expose('at', { type: 'DateTime', description: 'When it was done.' }),
    caller: t.exposeID('caller', { description: 'Who did it: `usr_...`, `key_...`, or `anon`.' }),
    address: t.exposeString('address', { nullable: true, description: 'Where the request came from.' }),
    what: t.exposeString('what', {
      description:
        'The root field of what was done, as `refundPayment`; what was only read is `read` and the field.',
    }),
    target: t.exposeString('target', {
      nullable: true,
      description:
        'The id, code or user it was done to; of a list the user it was asked for, else one of its things.',
    }),
    traceId: t.exposeString('traceId', { description: 'Joins it to the log of the request.' }),
  }),
});

builder.queryField('auditLog', (t) =>
  t.field({
    type: [AuditEntry],
    description:
      "Who signed in, made or revoked keys, changed templates, refunded, cancelled others' work, or read others' data as an administrator; newest first.",
    rule: 'operator',
    args: {
      first: t.arg.int({ required: true, defaultValue: 100, description: 'From 1 to 1000.' }),
      before: t.arg.id({ description: 'Only what is older than the entry of this id.' }),
      caller: t.arg.id({ description: 'Only what this caller did.' }),
      what: t.arg.string({ description: 'Only this, as `refundPayment` or `read task`.' }),
    },
    resolve: async (_, { first, before = null, caller = null, what = null }, { audit }) => {
      if (before !== null && !/^\d{1,18}$/.test(before)) {
        throw badInput('before', 'before must be the id of an entry');
      }
      return [...((await audit?.list({ first: boundedFirst(first, 1000), before, caller, what })) ?? [])];
    },
  }),
);
