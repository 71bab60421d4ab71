import { builder } from './builder.ts';
import { MediaInput } from './media.ts';
import { startMutation } from './start-mutation.ts';

const LipSyncInput = builder.inputType('LipSyncInput', {
  description: 'A face, and what it shall say.',
  fields: (t) => ({
    generator: t.string({ required: true, description: 'Who makes it, such as agg/lipsync.' }),
    model: t.string({ description: "Which of the generator's models; absent means its default." }),
    image: t.field({
      type: MediaInput,
      description:
        'A picture of the face; one of image and video. A video counts as one under this name too.',
    }),
    video: t.field({ type: MediaInput, description: 'A video of the face; one of image and video.' }),
    audio: t.field({ type: MediaInput, description: 'What is heard; one of audio and text.' }),
    text: t.string({ description: 'What is said; one of audio and text.' }),
    voiceId: t.id({ description: "Who says the text; absent means the provider's own default." }),
    prompt: t.string({ description: 'How the face shall move.' }),
    aspectRatio: t.string({ description: 'W:H with integers from 1 to 64.' }),
    resolution: t.string({ description: 'A size the model names.' }),
  }),
});

startMutation('lipSync', LipSyncInput, {
  description: 'Starts a video of a face that says something.',
  inputDescription: 'The face and the words.',
});
