import type { Share as SharedAddress } from '../files/files.ts';
import { builder } from './builder.ts';
import { Media, shareSeconds } from './media.ts';

const Share = builder.objectRef<SharedAddress>('Share').implement({
  description:
    'An address of a file to be passed on: it ends by itself or when it is revoked, and tells nobody the id or the permanent address of the file.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'What `revokeShare` takes.' }),
    url: t.exposeString('url', { description: 'The address of the bytes.' }),
    owner: t.exposeString('owner', { description: 'Who made it: `usr_...`, `key_...` or `anon`.' }),
    media: t.field({
      type: Media,
      nullable: true,
      description: 'The file; null when it was deleted meanwhile.',
      resolve: ({ mediaId }, _, { loaders }) => loaders.media.load(mediaId),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    endsAt: t.expose('endsAt', { type: 'DateTime', description: 'When it ends by itself.' }),
  }),
});

builder.mutationField('shareMedia', (t) =>
  t.field({
    type: Share,
    description:
      'Makes an address of a file to be passed on. NOT_FOUND for a file that the caller may not use as an input; BAD_USER_INPUT beyond SHARE_LIMIT. It stands in the audit log.',
    rule: 'anyone',
    audited: true,
    args: {
      id: t.arg.id({ required: true, description: 'The id of the Media.' }),
      seconds: t.arg.int(shareSeconds),
    },
    resolve: (_, { id, seconds }, { caller, services }) => services.files.shares.share(caller, id, seconds),
  }),
);

builder.mutationField('revokeShare', (t) =>
  t.field({
    type: Share,
    description:
      'Ends an address that was passed on, at once, and answers what it was: whoever made it, and the owner of the file. NOT_FOUND for those of others. It stands in the audit log.',
    rule: 'owner',
    audited: true,
    args: { id: t.arg.id({ required: true, description: 'The id of the Share.' }) },
    resolve: (_, { id }, { caller, services }) => services.files.shares.revoke(caller, id),
  }),
);

builder.queryField('shares', (t) =>
  t.field({
    type: [Share],
    description:
      "The caller's own addresses that have not ended, newest first, at most SHARE_LIMIT; empty without a caller. Of a file of the caller also those that others made.",
    rule: 'owner',
    args: { mediaId: t.arg.id({ description: 'Only those of this file.' }) },
    resolve: async (_, { mediaId }, { caller, services }) => [
      ...(await services.files.shares.list(caller, mediaId ?? null)),
    ],
  }),
);
