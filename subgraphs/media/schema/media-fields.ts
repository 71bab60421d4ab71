import type { Caller } from '../../../platform/access/caller.ts';
import { reads } from '../../../platform/graphql/schema/needed-members.ts';
import { boundedFirst, checkedCursor, givenMembers } from '../../../platform/paging.ts';
import { type FilePage, mediaKinds, type StoredFile } from '../files/files.ts';
import { builder, connection } from './builder.ts';
import { Media } from './media.ts';
import { Task } from './task.ts';

/** The library: files by their ids, and the caller's own in pages. */

const descriptions = {
  IMAGE: 'Images.',
  VIDEO: 'Videos.',
  AUDIO: 'Sound.',
  OTHER: 'Everything else, such as models and texts.',
} as const satisfies Record<(typeof mediaKinds)[number], string>;

const MediaKind = builder.enumType('MediaKind', {
  description: 'What a file is, by its measured type.',
  values: Object.fromEntries(mediaKinds.map((kind) => [kind, { description: descriptions[kind] }])) as Record<
    (typeof mediaKinds)[number],
    { description: string }
  >,
});

const MediaConnection = connection(Media, {
  name: 'Media',
  plural: 'files',
  readItems: ({ files }: FilePage & { readonly after: string | null }) => files,
  readCount: ({ count }) => count(),
});

const MediaFilter = builder.inputType('MediaFilter', {
  description:
    'Which files to list; every given member must hold. Uploads have no generator, model and text.',
  fields: (t) => ({
    kinds: t.field({ type: [MediaKind], description: 'Of one of these kinds.' }),
    generator: t.string({ description: 'Made at this generator.' }),
    model: t.string({ description: 'Made by this model, or requested with it.' }),
    text: t.string({ description: 'Made from a prompt with this text, in any case.' }),
    owner: t.string({
      description:
        'Of this owner (usr_..., key_..., or anon for nobody); only admins have others than themselves.',
    }),
    board: t.id({ description: 'On this board of the caller; nothing for those of others.' }),
    starred: t.boolean({ description: 'Starred by the caller, or not.' }),
    createdAfter: t.field({ type: 'DateTime', description: 'Stored after this moment.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Stored before this moment.' }),
  }),
});

const seesAll = ({ kind, scopes }: Caller): boolean => kind === 'internal' || scopes.includes('admin');

builder.objectFields(Media, (t) => ({
  name: t.exposeString('name', { description: 'Its file name, also the end of `url`.' }),
  thumbnail: t.string({
    nullable: true,
    description:
      'Address of a small WebP, made when it is first fetched and then kept: of an image (no SVG, no HEIC) the image, of a recording (WAV, MP3, Ogg) its waveform, of a video its first frame, or a drawing in its shape that says play where that can not be decoded (FFMPEG_PATH). Null for everything else. A file of which none can be made, because it is damaged or beyond 64 MiB, answers 404 there.',
    args: {
      width: t.arg.int({
        required: true,
        defaultValue: 320,
        description: 'Pixels; the next of 160, 320, 640 and 1280 is taken. Never wider than the image.',
      }),
    },
    extensions: reads<StoredFile>('id', 'contentType'),
    resolve: (file, { width }, { services }) => services.files.formatThumbnailUrl(file, width),
  }),
  spritesheet: t.string({
    nullable: true,
    description:
      'Address of a WebP with up to 16 frames of a video at even distances, four in a row, each at most 320 pixels wide: made when it is first fetched, and then kept. Null for everything but videos; one that is beyond 64 MiB, or can not be decoded here (FFMPEG_PATH), answers 404 there.',
    extensions: reads<StoredFile>('id', 'contentType'),
    resolve: (file, _, { services }) => services.files.formatSpritesheetUrl(file),
  }),
  owner: t.string({
    nullable: true,
    description:
      'Whom it belongs to, for those who may list it; null for others, and when it belongs to nobody.',
    extensions: reads<StoredFile>('owner'),
    resolve: ({ owner }, _, { caller }) =>
      owner !== 'anon' && (caller.id === owner || seesAll(caller)) ? owner : null,
  }),
  task: t.field({
    type: Task,
    nullable: true,
    description:
      "The task that made it; null for uploads, where it is somebody else's, and for all but administrators where it is nobody's: the id of the file is public, that of the task cancels it.",
    extensions: reads<StoredFile>('owner', 'taskId'),
    resolve({ owner, taskId }, _, { caller, loaders }) {
      if (taskId === null || (owner === 'anon' && !seesAll(caller))) return null;
      return loaders.tasks.load(taskId);
    },
  }),
}));

builder.queryField('media', (t) =>
  t.field({
    type: Media,
    nullable: true,
    description:
      'One file by its id; null when there is none. The unguessable id is enough to read it while addresses are permanent; where they expire (FILES_URL_TTL) it is one that the caller may use as an input.',
    rule: 'anyone',
    args: { id: t.arg.id({ required: true, description: 'The id of the Media.' }) },
    resolve: async (_, { id }, { caller, loaders, services }) => {
      const file = await loaders.media.load(id);
      // Whoever knows an address that has ended must not get a fresh one for it.
      return file !== null && services.files.opens(caller, file) ? file : null;
    },
  }),
);

builder.queryField('mediaByBlake3', (t) =>
  t.field({
    type: Media,
    nullable: true,
    description:
      "The caller's own newest file with these bytes, so that they need not be sent again; null when there is none, or its upload did not ask for BLAKE3. Of callers without a credential null, unless Kiln is open to this machine alone.",
    rule: 'owner',
    args: { blake3: t.arg.string({ required: true, description: '64 hexadecimal digits.' }) },
    resolve: (_, { blake3 }, { caller, services }) => services.files.byBlake3(caller, blake3),
  }),
);

builder.queryField('medias', (t) =>
  t.field({
    type: MediaConnection,
    description:
      "The caller's own files, uploads and results, newest first; empty without a caller. Admins see all. Temporary files and those uploaded as not listed are left out.",
    rule: 'owner',
    args: {
      filter: t.arg({ type: MediaFilter, description: 'Which ones.' }),
      first: t.arg.int({ required: true, defaultValue: 50, description: 'From 1 to 200.' }),
      after: t.arg.string({ description: 'Cursor of the last file already seen.' }),
    },
    resolve: async (_, { filter, ...request }, { caller, services }) => {
      const page = { first: boundedFirst(request.first, 200), after: checkedCursor(request.after) };
      return { ...page, ...(await services.files.list(caller, givenMembers(filter ?? {}), page)) };
    },
  }),
);
