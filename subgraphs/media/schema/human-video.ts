import { builder } from './builder.ts';
import { MediaInput } from './media.ts';
import { startArguments, startMutation } from './start-mutation.ts';
import { Task } from './task.ts';
import { vendorOptions } from './vendor-options.ts';

const HumanVideoInput = builder.inputType('HumanVideoInput', {
  description: 'A person in a picture, and the audio that they speak.',
  fields: (t) => ({
    image: t.field({
      type: MediaInput,
      required: true,
      description: 'A picture to check for a person or a figure.',
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
    description: 'Starts looking for a person or a figure in a picture; the result is a PersonDetection.',
    rule: 'spend',
    args: {
      image: t.arg({ type: MediaInput, required: true, description: 'The picture.' }),
      ...startArguments(t),
    },
    resolve: (_, { image, idempotencyKey = null, ...options }, { caller, services, signal }) =>
      services.submissions.detectPerson(caller, { image }, { idempotencyKey, ...options, signal }),
  }),
);

startMutation('generateHumanVideo', HumanVideoInput, {
  description: 'Starts a video of a person in a picture who speaks an audio file.',
  inputDescription: 'The picture and the audio.',
});
