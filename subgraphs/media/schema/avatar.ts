import { builder } from './builder.ts';
import { MediaInput } from './media.ts';
import { startArguments, startMutation } from './start-mutation.ts';
import { Task } from './task.ts';
import { vendorOptions } from './vendor-options.ts';

const AvatarInput = builder.inputType('AvatarInput', {
  description: 'An avatar to make from a video.',
  fields: (t) => ({
    videoId: t.id({ required: true, description: 'What a finished uploadAvatarSource answered.' }),
    name: t.string({ description: 'A name for people.' }),
    ...vendorOptions(t),
  }),
});

const AvatarVideoInput = builder.inputType('AvatarVideoInput', {
  description: 'What an avatar speaks.',
  fields: (t) => ({
    digitalId: t.id({ required: true, description: 'What a finished createAvatar answered.' }),
    audio: t.field({ type: MediaInput, description: 'The audio; one of audio and text.' }),
    text: t.string({
      description: 'The text to speak; one of audio and text. It is synthesised first, by agg/speech_router.',
    }),
    voiceId: t.id({ description: 'The voice of the text, one of `voices`; absent means the first of them.' }),
    resolution: t.string({ description: 'A size that the model supports.' }),
    ...vendorOptions(t),
  }),
});

builder.mutationField('uploadAvatarSource', (t) =>
  t.field({
    type: Task,
    description: 'Starts handing an MP4 video to the cloud of avatars; the result is an AvatarSource.',
    rule: 'spend',
    args: {
      source: t.arg({ type: MediaInput, required: true, description: 'An MP4 video of the person.' }),
      ...startArguments(t),
    },
    resolve: (_, { source, idempotencyKey = null, ...options }, { caller, services, signal }) =>
      services.submissions.uploadAvatarSource(
        caller,
        { video: source },
        { idempotencyKey, ...options, signal },
      ),
  }),
);

startMutation('createAvatar', AvatarInput, {
  description: 'Starts making an avatar; the result is an Avatar.',
  inputDescription: 'The video to make it from.',
});

startMutation('generateAvatarVideo', AvatarVideoInput, {
  description: 'Starts a video of an avatar that speaks.',
  inputDescription: 'What it says.',
});
