import type { KeptRecord } from '../../../platform/database/record-sections.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { boundedFirst } from '../../../platform/paging.ts';
import { builder } from './builder.ts';

/** Longest cursor of these pages. */
const MAX_CURSOR = 1_000;

const PersonalRecord = builder.objectRef<KeptRecord>('PersonalRecord').implement({
  description: 'One thing that is kept of somebody.',
  fields: (t) => ({
    kind: t.exposeString('kind', {
      description:
        'account, signIn, session, execution, payment, refund, batch, batchCall, storedAnswer, auditEntry, task, media, share, chat, providerFile, usage or budget.',
    }),
    data: t.expose('data', {
      type: 'JSON',
      description: 'What is kept, but for keys and hashes. The bytes of a file are at `media(id)`.',
    }),
  }),
});

interface PersonalPageShape {
  readonly records: readonly KeptRecord[];
  readonly endCursor: string | null;
}

const PersonalDataPage = builder.objectRef<PersonalPageShape>('PersonalDataPage').implement({
  description: 'A page of what is kept of somebody.',
  fields: (t) => ({
    records: t.field({
      type: [PersonalRecord],
      description: 'In no order that means something.',
      resolve: ({ records }) => [...records],
    }),
    endCursor: t.exposeString('endCursor', {
      nullable: true,
      description: 'Goes into `after` of the next page; null when this was the last.',
    }),
  }),
});

builder.queryField('exportMyData', (t) =>
  t.field({
    type: PersonalDataPage,
    description:
      'All that is kept of who is asking, a page at a time: account, sign-ins, sessions, executions, payments, batches of calls, tasks with prompts and results, files, chats, usage. UNAUTHENTICATED for who has not signed in.',
    rule: 'owner',
    args: {
      first: t.arg.int({ required: true, defaultValue: 200, description: 'From 1 to 1000.' }),
      after: t.arg.string({ description: '`endCursor` of the page before.' }),
    },
    async resolve(_, { first, after = null }, { caller, services }) {
      if (caller.kind === 'anonymous') {
        throw new AppError('UNAUTHENTICATED', 'only of who has signed in something is kept by name');
      }
      if (caller.kind !== 'user') throw notFound('account', caller.id);
      const most = boundedFirst(first, 1000);
      const from = after === null ? null : after.slice(0, MAX_CURSOR);
      const { id, traceId } = caller;
      const records = await services.personalData.read(id, { after: from, first: most, traceId });
      const endCursor = records.length < most ? null : (records.at(-1)?.cursor ?? null);
      return { records, endCursor };
    },
  }),
);
