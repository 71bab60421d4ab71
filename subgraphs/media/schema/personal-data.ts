import type { KeptRecord } from '../../../platform/database/record-sections.ts';
import { builder } from './builder.ts';

const KeptRecordType = builder.objectRef<KeptRecord>('KeptRecord').implement({
  description: 'One thing that media keeps of somebody.',
  inaccessible: true,
  fields: (t) => ({
    kind: t.exposeString('kind', { description: 'What it is, as task or media.' }),
    data: t.expose('data', { type: 'JSON', description: 'What is kept.' }),
    cursor: t.exposeString('cursor', { description: 'Goes into `after`.' }),
  }),
});

builder.queryField('personalData', (t) =>
  t.field({
    type: [KeptRecordType],
    description:
      'What media keeps of somebody, in pages; a page with fewer records than requested is the last.',
    rule: 'service',
    inaccessible: true,
    args: {
      owner: t.arg.string({ required: true, description: 'Whom: `usr_...`.' }),
      first: t.arg.int({ required: true, description: 'From 1 to 1000.' }),
      after: t.arg.string({ description: 'Cursor of the last record already seen.' }),
    },
    resolve: async (_, { owner, first, after = null }, { services }) => [
      ...(await services.personalData.read(owner, after, first)),
    ],
  }),
);
