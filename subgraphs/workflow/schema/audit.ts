import type { AuditEntry as AuditEntryShape } from '../../../platform/audit/audit-log.ts';
import { badInput } from '../../../platform/errors.ts';
import { boundedFirst, checkedCursor } from '../../../platform/paging.ts';
import { builder, connection } from './builder.ts';

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

interface AuditPage {
  readonly items: readonly AuditEntryShape[];
  readonly hasNextPage: boolean;
  readonly after: string | null;
}

const AuditEntryConnection = connection(AuditEntry, {
  name: 'AuditEntry',
  plural: 'audit entries',
  readItems: ({ items }: AuditPage) => items,
});

const isEntryId = (text: string): boolean => /^\d{1,18}$/.test(text);

builder.queryField('auditLog', (t) =>
  t.field({
    type: [AuditEntry],
    deprecationReason: 'Use auditEntries.',
    description:
      "Who signed in, made or revoked keys, changed templates, refunded, cancelled others' work, or read others' data as an administrator, or their prompts as a program; newest first.",
    rule: 'operator',
    args: {
      first: t.arg.int({ required: true, defaultValue: 100, description: 'From 1 to 1000.' }),
      before: t.arg.id({ description: 'Only what is older than the entry of this id.' }),
      caller: t.arg.id({ description: 'Only what this caller did.' }),
      what: t.arg.string({ description: 'Only this, as `refundPayment` or `read task`.' }),
    },
    resolve: async (_, { first, before = null, caller = null, what = null }, { audit }) => {
      if (before !== null && !isEntryId(before)) {
        throw badInput('before', 'before must be the id of an entry');
      }
      return [...((await audit?.list({ first: boundedFirst(first, 1000), before, caller, what })) ?? [])];
    },
  }),
);

builder.queryField('auditEntries', (t) =>
  t.field({
    type: AuditEntryConnection,
    description:
      "Who signed in, made or revoked keys, changed templates, refunded, cancelled others' work, or read others' data as an administrator, or their prompts as a program; newest first.",
    rule: 'operator',
    args: {
      caller: t.arg.id({ description: 'Only what this caller did.' }),
      what: t.arg.string({ description: 'Only this, as `refundPayment` or `read task`.' }),
      reads: t.arg.boolean({
        required: true,
        defaultValue: true,
        description: 'Whether what was only read is listed as well.',
      }),
      first: t.arg.int({ required: true, defaultValue: 50, description: 'From 1 to 1000.' }),
      after: t.arg.string({ description: 'Cursor of the last entry already seen.' }),
    },
    async resolve(_, { caller = null, what = null, reads, ...asked }, { audit }) {
      const [first, after] = [boundedFirst(asked.first, 1000), checkedCursor(asked.after, isEntryId)];
      const found = (await audit?.list({ first: first + 1, before: after, caller, what, reads })) ?? [];
      return { items: found.slice(0, first), hasNextPage: found.length > first, after };
    },
  }),
);
