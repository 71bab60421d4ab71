import { builder } from './builder.ts';
import { MediaInput } from './media.ts';
import { startMutation } from './start-mutation.ts';
import { vendorOptions } from './vendor-options.ts';

const LipSyncInput = builder.inputType('LipSyncInput', {
  description: 'A face, and the audio or text that it speaks.',
  fields: (t) => ({
    generator: t.string({ required: true, description: 'Who makes it, such as agg/lipsync.' }),
    model: t.string({ description: "Which of the generator's models; absent means its default." }),
    image: t.field({
      type: MediaInput,
      description:
        'A picture of the face; one of image and video. A video counts as one under this name too.',
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
