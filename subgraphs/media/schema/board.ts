import { reads } from '../../../platform/graphql/schema/needed-members.ts';
import type { Board as BoardShape, SharedBoard as SharedBoardShape, SharedFile } from '../boards/boards.ts';
import type { StoredFile } from '../files/files.ts';
import { builder } from './builder.ts';
import { Media, shareSeconds } from './media.ts';

const BoardShare = builder.objectRef<NonNullable<BoardShape['share']>>('BoardShare').implement({
  description: 'The address of a board to be passed on: it ends by itself or by `unshareBoard`.',
  fields: (t) => ({
    url: t.exposeString('url', { description: 'The page that shows the board, without signing in.' }),
    endsAt: t.expose('endsAt', { type: 'DateTime', description: 'When it ends by itself.' }),
  }),
});

const Board = builder.objectRef<BoardShape>('Board').implement({
  description: 'A board that somebody puts their files on. A file is on as many as they like.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    name: t.exposeString('name', { description: 'Its name, 1 to 100 characters.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was made.' }),
    count: t.exposeInt('count', { description: 'How many files are on it.' }),
    cover: t.field({
      type: Media,
      nullable: true,
      description: 'The file that was put on it last; null while it is empty.',
      resolve: ({ coverId }, _, { loaders }) => (coverId === null ? null : loaders.media.load(coverId)),
    }),
    share: t.expose('share', {
      type: BoardShare,
      nullable: true,
      description: 'Its address to be passed on; null when there is none, or it has ended.',
    }),
  }),
});

const SharedBoardFile = builder.objectRef<SharedFile>('SharedBoardFile').implement({
  description: 'A file on a board that was passed on; neither its id nor its permanent address is told.',
  fields: (t) => ({
    url: t.exposeString('url', {
      description: 'Address of the bytes; it ends with that of the board, and after an hour.',
    }),
    name: t.exposeString('name', { description: 'Its file name.' }),
    contentType: t.exposeString('contentType', { description: 'Measured media type, such as image/png.' }),
    width: t.exposeInt('width', { nullable: true, description: 'Pixels, for images and videos.' }),
    height: t.exposeInt('height', { nullable: true, description: 'Pixels, for images and videos.' }),
    duration: t.exposeFloat('duration', { nullable: true, description: 'Seconds, for audio and videos.' }),
  }),
});

const SharedBoard = builder.objectRef<SharedBoardShape>('SharedBoard').implement({
  description: 'What somebody sees who was given the address of a board.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'The name of the board.' }),
    endsAt: t.expose('endsAt', { type: 'DateTime', description: 'When the address ends.' }),
    files: t.field({
      type: [SharedBoardFile],
      description: 'Its files, the last one that was put there first, at most 1,000.',
      resolve: ({ files }) => [...files],
    }),
  }),
});

const idArgument = {
  required: true,
  description: 'The id of the Board. NOT_FOUND for those of others.',
} as const;
const filesArgument = {
  required: true,
  description: "The ids of the files, at most 500; those that are not the board's owner's are left out.",
} as const;

builder.queryField('boards', (t) =>
  t.field({
    type: [Board],
    description: "The caller's own boards, the oldest first, at most 200; empty without a caller.",
    rule: 'owner',
    resolve: async (_, __, { caller, services }) => [...(await services.boards.list(caller))],
  }),
);

builder.queryField('sharedBoard', (t) =>
  t.field({
    type: SharedBoard,
    nullable: true,
    description: 'The board behind an address that was passed on; null when it has ended or was revoked.',
    rule: 'proof',
    args: { token: t.arg.string({ required: true, description: 'The last part of the address.' }) },
    resolve: (_, { token }, { services }) => services.boards.shared(token),
  }),
);

builder.mutationFields((t) => ({
  createBoard: t.field({
    type: Board,
    description:
      'Makes a board. UNAUTHENTICATED without a caller; BAD_USER_INPUT for a name that is empty or longer than 100 characters, or beyond 200 boards.',
    rule: 'owner',
    args: { name: t.arg.string({ required: true, description: 'What it is called.' }) },
    resolve: (_, { name }, { caller, services }) => services.boards.create(caller, name),
  }),
  renameBoard: t.field({
    type: Board,
    description: 'Gives a board another name, 1 to 100 characters.',
    rule: 'owner',
    args: {
      id: t.arg.id(idArgument),
      name: t.arg.string({ required: true, description: 'What it is called.' }),
    },
    resolve: (_, { id, name }, { caller, services }) => services.boards.rename(caller, id, name),
  }),
  deleteBoard: t.field({
    type: Board,
    description: 'Deletes a board and answers what it was; the files on it stay.',
    rule: 'owner',
    args: { id: t.arg.id(idArgument) },
    resolve: (_, { id }, { caller, services }) => services.boards.remove(caller, id),
  }),
}));

builder.mutationFields((t) => ({
  addToBoard: t.field({
    type: Board,
    description: 'Puts files on a board, at most 1,000 in all; with `from` they are moved there.',
    rule: 'owner',
    args: {
      id: t.arg.id(idArgument),
      mediaIds: t.arg.idList(filesArgument),
      from: t.arg.id({ description: 'The board that they are taken from.' }),
    },
    resolve: (_, { id, mediaIds, from = null }, { caller, services }) =>
      services.boards.put(caller, id, { ids: mediaIds, from }),
  }),
  removeFromBoard: t.field({
    type: Board,
    description: 'Takes files from a board; the files stay.',
    rule: 'owner',
    args: { id: t.arg.id(idArgument), mediaIds: t.arg.idList(filesArgument) },
    resolve: (_, { id, mediaIds }, { caller, services }) => services.boards.take(caller, id, mediaIds),
  }),
}));

builder.mutationFields((t) => ({
  shareBoard: t.field({
    type: Board,
    description:
      'Makes an address of a board to be passed on; one that there was before ends. It stands in the audit log.',
    rule: 'owner',
    audited: true,
    args: {
      id: t.arg.id(idArgument),
      seconds: t.arg.int(shareSeconds),
    },
    resolve: (_, { id, seconds }, { caller, services }) => services.boards.share(caller, id, seconds),
  }),
  unshareBoard: t.field({
    type: Board,
    description:
      'Ends the address of a board at once; addresses of its files that somebody has loaded end within the hour. It stands in the audit log.',
    rule: 'owner',
    audited: true,
    args: { id: t.arg.id(idArgument) },
    resolve: (_, { id }, { caller, services }) => services.boards.unshare(caller, id),
  }),
  starMedia: t.field({
    type: ['ID'],
    description:
      "Stars files of the caller's own, or takes the stars away; answers the ids of those that it was done for. UNAUTHENTICATED without a caller.",
    rule: 'owner',
    args: {
      ids: t.arg.idList({ required: true, description: 'The ids of the files, at most 500.' }),
      starred: t.arg.boolean({
        required: true,
        defaultValue: true,
        description: 'False takes the stars away.',
      }),
    },
    resolve: async (_, { ids, starred }, { caller, services }) => [
      ...(await services.boards.star(caller, ids, starred)),
    ],
  }),
}));

builder.objectField(Media, 'starred', (t) =>
  t.boolean({
    description: 'Whether the caller has starred it; false without a caller.',
    extensions: reads<StoredFile>('id'),
    resolve: ({ id }, _, { loaders }) => loaders.stars.load(id),
  }),
);
