import { builder } from './builder.ts';
import { MediaInput } from './media.ts';
import { startMutation, vendorOptions } from './start-mutation.ts';

const AnalysisInput = builder.inputType('AnalysisInput', {
  description: 'An image, a recording or a video, and what to say about it.',
  fields: (t) => ({
    generator: t.string({ required: true, description: 'Who looks and listens, such as llm/altllm.' }),
    model: t.string({ description: "Which of the generator's models; absent means its default." }),
    media: t.field({
      type: MediaInput,
      required: true,
      description: 'The image, recording or video; what uploadToProvider answered is taken by id and by uri.',
    }),
    prompt: t.string({ required: true, description: 'What to find out or describe.' }),
    system: t.string({ description: 'How to behave, in front of the prompt.' }),
    ...vendorOptions(t),
  }),
});

startMutation('analyzeMedia', AnalysisInput, {
  description: 'Starts describing an image, a recording or a video in a text, which is `Task.text`.',
  inputDescription: 'The media and the question.',
});
