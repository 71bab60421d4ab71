import type { UploadedResource } from '../synchronous/uploads.ts';
import { builder } from './builder.ts';
import { Media } from './media.ts';

const ProviderResource = builder.objectRef<UploadedResource>('ProviderResource').implement({
  description: "A file in a provider's own storage, and our copy of it.",
  fields: (t) => ({
    id: t.id({
      description: 'The id of our copy: what `fileId` of an input takes.',
      resolve: ({ media }) => media.id,
    }),
    uri: t.exposeString('uri', {
      nullable: true,
      description: "Its address within the provider's storage, taken as `url` of an input too.",
    }),
    media: t.field({ type: Media, description: 'Our copy.', resolve: ({ media }) => media }),
    extra: t.expose('answer', {
      type: 'JSON',
      nullable: true,
      description: "The provider's own answer, for callers who know that provider.",
    }),
  }),
});

builder.mutationField('uploadVoiceSample', (t) =>
  t.field({
    type: ProviderResource,
    description: 'Uploads a recording to the provider of a generator that clones voices.',
    rule: 'anyone',
    scope: 'start',
    args: {
      generator: t.arg.string({
        required: true,
        description: 'Who will make the voice, such as agg/speech_router.',
      }),
      file: t.arg({ type: 'Upload', required: true, description: 'The recording, in a multipart request.' }),
    },
    resolve: (_, { generator, file }, { caller, services, signal }) =>
      services.uploads.upload(caller, { generator, file, purpose: 'voice-sample' }, signal),
  }),
);

builder.mutationField('uploadToProvider', (t) =>
  t.field({
    type: ProviderResource,
    description:
      'Hands a file to the provider of a generator, so that it is sent only once for several analyses.',
    rule: 'anyone',
    scope: 'start',
    args: {
      generator: t.arg.string({ required: true, description: 'Who will look at it, such as llm/altllm.' }),
      file: t.arg({ type: 'Upload', required: true, description: 'The file, in a multipart request.' }),
    },
    resolve: (_, { generator, file }, { caller, services, signal }) =>
      services.uploads.upload(caller, { generator, file, purpose: 'analysis' }, signal),
  }),
);

builder.mutationField('uploadLipSyncResource', (t) =>
  t.field({
    type: ProviderResource,
    description: 'Hands an image, a video or a recording to the provider of a generator of lip-sync.',
    rule: 'anyone',
    scope: 'start',
    args: {
      generator: t.arg.string({
        required: true,
        description: 'Who will make the video, such as agg/lipsync.',
      }),
      only: t.arg.stringList({
        description: 'Media types it must have as measured, such as image/*; absent means all three kinds.',
      }),
      file: t.arg({ type: 'Upload', required: true, description: 'The file, in a multipart request.' }),
    },
    resolve: (_, { generator, file, only }, { caller, services, signal }) =>
      services.uploads.upload(caller, { generator, file, purpose: 'lip-sync', only: only ?? null }, signal),
  }),
);
