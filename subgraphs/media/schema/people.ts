import { builder } from './builder.ts';
import { MediaInput } from './media.ts';
import { startMutation, startArguments, vendorOptions } from './start-mutation.ts';
import { Task } from './task.ts';

const LipSyncInput = builder.inputType('LipSyncInput', {
  description: 'A face, and the audio or text that it speaks.',
  fields: (t) => ({
    generator: t.string({ required: true, description: 'Who makes it, such as agg/lipsync.' }),
    model: t.string({ description: "Which of the generator's models; absent means its default." }),
    image: t.field({
      type: MediaInput,
      description: 'An image of the face; one of image and video. A video counts as one under this name too.',
    }),
    video: t.field({ type: MediaInput, description: 'A video of the face; one of image and video.' }),
    audio: t.field({ type: MediaInput, description: 'The audio; one of audio and text.' }),
    text: t.string({ description: 'The text to speak; one of audio and text.' }),
    voiceId: t.id({ description: "The voice of the text; absent means the provider's own default." }),
    prompt: t.string({ description: 'How the face moves.' }),
    aspectRatio: t.string({ description: 'W:H with integers from 1 to 64.' }),
    resolution: t.string({ description: 'A size that the model supports.' }),
    ...vendorOptions(t),
  }),
});

startMutation('lipSync', LipSyncInput, {
  description: 'Starts a lip-synced video of a face.',
  inputDescription: 'The face, and what it speaks.',
});

const CharacterInput = builder.inputType('CharacterInput', {
  description: 'A person to appear in several images.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'A name for people.' }),
    images: t.field({
      type: [MediaInput],
      required: true,
      description: 'Images of the person, at least one.',
    }),
    ...vendorOptions(t),
  }),
});

const CharacterImageInput = builder.inputType('CharacterImageInput', {
  description: 'An image, of a character if one is named.',
  fields: (t) => ({
    characterId: t.id({
      description: 'What a finished createCharacter answered; absent: no particular person.',
    }),
    model: t.string({ description: "Which of the generator's models; absent means its default." }),
    prompt: t.string({ required: true, description: 'What to show.' }),
    aspectRatio: t.string({ description: 'W:H with integers from 1 to 64.' }),
    resolution: t.string({ description: 'A size that the model supports.' }),
    count: t.int({ description: 'How many images.' }),
    seed: t.int({ description: 'Same seed, same prompt, same image, where the model has seeds.' }),
    ...vendorOptions(t),
  }),
});

startMutation('createCharacter', CharacterInput, {
  description: 'Starts creating a character from images of a person; the result is a Character.',
  inputDescription: 'Who it is.',
});

startMutation('generateCharacterImage', CharacterImageInput, {
  description: 'Starts making images of a character.',
  inputDescription: 'What to make.',
});

const HumanVideoInput = builder.inputType('HumanVideoInput', {
  description: 'A person in an image, and the audio that they speak.',
  fields: (t) => ({
    image: t.field({
      type: MediaInput,
      required: true,
      description: 'An image to check for a person or a figure.',
    }),
    audio: t.field({ type: MediaInput, required: true, description: 'What they say.' }),
    prompt: t.string({ description: 'How they move.' }),
    resolution: t.string({ description: 'A size that the model supports.' }),
    ...vendorOptions(t),
  }),
});

builder.mutationField('detectPerson', (t) =>
  t.field({
    type: Task,
    description: 'Starts looking for a person or a figure in an image; the result is a PersonDetection.',
    rule: 'spend',
    args: {
      image: t.arg({ type: MediaInput, required: true, description: 'The image.' }),
      ...startArguments(t),
    },
    resolve: (_, { image, idempotencyKey = null, ...options }, { caller, services, signal }) =>
      services.submissions.detectPerson(caller, { image }, { idempotencyKey, ...options, signal }),
  }),
);

startMutation('generateHumanVideo', HumanVideoInput, {
  description: 'Starts a video of a person in an image who speaks an audio file.',
  inputDescription: 'The image and the audio.',
});

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
