import { enforceScope } from '../../../platform/access/policy.ts';
import { reads } from '../../../platform/graphql/schema/needed-members.ts';
import type { StoredFile } from '../files/files.ts';
import { builder } from './builder.ts';
import type { MediaContext } from './context.ts';

/** The argument `seconds` of everything that makes an address to be passed on. */
export const shareSeconds = {
  required: true,
  defaultValue: 604_800,
  description: 'How long it is good for: from a minute to a year, a week unless said otherwise.',
} as const;

/** Files by their ids, in order; those that are gone are left out. */
export async function loadFiles(
  { media }: MediaContext['loaders'],
  ids: readonly string[],
): Promise<StoredFile[]> {
  const found = await Promise.all(ids.map((id) => media.load(id)));
  return found.filter((file) => file !== null);
}

/** A stored file with its measured facts. */
export const Media = builder.objectRef<StoredFile>('Media').implement({
  description: 'A stored file with its measured facts: an upload or what a task made.',
  fields: (t) => ({
    id: t.exposeID('id', {
      description: 'Unguessable id. It stands in the address, so it reads the file and never changes it.',
    }),
    url: t.string({
      description: 'Permanent public address of the bytes.',
      args: {
        cdn: t.arg.boolean({
          required: true,
          defaultValue: false,
          description: "The CDN's address, when one is configured.",
        }),
      },
      extensions: reads<StoredFile>('id', 'name'),
      resolve: (file, { cdn }, { services }) => services.files.formatUrl(file, { cdn }),
    }),
    shareUrl: t.string({
      description:
        'An address of the bytes to be passed on, as `shareMedia` makes it: a service key needs the scope `manage`, and it stands in the audit log.',
      deprecationReason:
        'It makes a new address each time it is read: use shareMedia, and shares and revokeShare.',
      args: { seconds: t.arg.int(shareSeconds) },
      extensions: reads<StoredFile>('id', 'name'),
      resolve: async ({ id }, { seconds }, { caller, services, audit }) => {
        enforceScope(caller, 'manage');
        const { url } = await services.files.shares.share(caller, id, seconds);
        await audit?.record(caller, { what: 'shareMedia', target: id });
        return url;
      },
    }),
    contentType: t.exposeString('contentType', { description: 'Measured media type, such as image/png.' }),
    bytes: t.exposeFloat('bytes', { description: 'Size in bytes (a float, as files may pass 2 GiB).' }),
    sha256: t.exposeString('sha256', { description: 'SHA-256 of the bytes, hexadecimal.' }),
    blake3: t.exposeString('blake3', {
      nullable: true,
      description: 'BLAKE3 of the bytes, hexadecimal; null unless the upload asked for it.',
    }),
    width: t.exposeInt('width', { nullable: true, description: 'Pixels, for images and videos.' }),
    height: t.exposeInt('height', { nullable: true, description: 'Pixels, for images and videos.' }),
    duration: t.exposeFloat('duration', { nullable: true, description: 'Seconds, for audio and videos.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was stored.' }),
    manageToken: t.string({
      nullable: true,
      description:
        'What `deleteMedia` takes to delete it. Only in the answer to the upload of a caller without a credential, once.',
      extensions: reads<StoredFile>('manageToken'),
      resolve: ({ manageToken }) => manageToken ?? null,
    }),
  }),
});

builder.asEntity(Media, {
  key: builder.selection<{ id: string }>('id'),
  resolveReference: ({ id }, { loaders }) => loaders.media.load(id),
});

/** A file among the inputs of a submission. */
export const MediaInput = builder.inputType('MediaInput', {
  description: 'A file to work on; exactly one member must be set.',
  fields: (t) => ({
    url: t.string({ description: 'A public http or https address, or the url of a Media.' }),
    upload: t.field({ type: 'Upload', description: 'The file itself, in a multipart request.' }),
    fileId: t.id({
      description: 'The id of a Media; where addresses expire (FILES_URL_TTL), of one of the caller.',
    }),
  }),
});

builder.mutationField('uploadFile', (t) =>
  t.field({
    type: Media,
    description: 'Stores a file; its address can be used as an input afterwards.',
    rule: 'anyone',
    scope: 'start',
    args: {
      file: t.arg({ type: 'Upload', required: true, description: 'The file, in a multipart request.' }),
      temporary: t.arg.boolean({
        required: true,
        defaultValue: false,
        description: 'Keep it for an hour only, unless a task takes it as an input.',
      }),
      listed: t.arg.boolean({
        required: true,
        defaultValue: true,
        description:
          'Whether `medias` lists it; false for what is only good with another file, such as a mask. It is used and read by its id either way.',
      }),
      blake3: t.arg.boolean({
        required: true,
        defaultValue: false,
        description: 'Whether its BLAKE3 is computed too, so that `mediaByBlake3` finds it.',
      }),
    },
    resolve: (_, { file, ...options }, { caller, services, signal }) =>
      services.submissions.uploadFile(caller, file, { ...options, signal }),
  }),
);

builder.mutationField('deleteMedia', (t) =>
  t.field({
    type: Media,
    description:
      'Deletes a file of the caller, bytes and all, and answers what it was. NOT_FOUND for the files of others, and for those of callers without a credential unless `manageToken` proves who made them.',
    rule: 'owner',
    args: {
      id: t.arg.id({ required: true, description: 'The id of the Media.' }),
      manageToken: t.arg.string({
        description:
          'What the upload or submission answered to a caller without a credential. Not needed by owners, administrators, and in open mode on loopback.',
      }),
    },
    resolve: (_, { id, manageToken }, { caller, services }) => services.files.remove(caller, id, manageToken),
  }),
);
