import { builder } from './builder.ts';
import { MediaInput } from './media.ts';
import { startArguments, startMutation, vendorOptions } from './start-mutation.ts';
import { Task } from './task.ts';

/** What to make an image from. */
export const ImageInput = builder.inputType('ImageInput', {
  description: 'What to make an image from. Which members a generator takes, and their limits: see `models`.',
  fields: (t) => ({
    generator: t.string({ required: true, description: 'Who makes it, such as agg/imga or union.' }),
    model: t.string({ description: "Which of the generator's models; absent means its default." }),
    prompt: t.string({ required: true, description: 'What to show.' }),
    negativePrompt: t.string({ description: 'What not to show.' }),
    images: t.field({ type: [MediaInput], description: 'Reference images.' }),
    mask: t.field({
      type: MediaInput,
      description:
        'Which part of the first of `images` is drawn anew: white pixels are, black ones stay. To paint beyond an edge, send a larger image whose border is white in the mask. Models without masks refuse it.',
    }),
    aspectRatio: t.string({ description: 'W:H with integers from 1 to 64.' }),
    resolution: t.string({ description: 'A size that the model supports.' }),
    count: t.int({ description: 'How many images, from 1 to 10.' }),
    seed: t.int({ description: 'Same seed, same prompt, same image, where the model has seeds.' }),
    quality: t.string({
      description: 'How much is spent on it: low, medium, high, or another that the model names.',
    }),
    background: t.string({ description: 'auto, opaque or transparent, where the model has backgrounds.' }),
    outputFormat: t.string({ description: 'png, jpeg or webp, where the model has formats.' }),
    speedMode: t.string({ description: 'fast, turbo or relax, where the generator has modes.' }),
    batch: t.boolean({
      description:
        "Whether it may wait for up to a day, at half the price in its vendor's batches where the model has them (`hasBatches` of `models`); what a batch ends without is made at the usual price. Any other model makes it as usual.",
    }),
    ...vendorOptions(t),
  }),
});

startMutation('generateImage', ImageInput, {
  description: 'Starts making one or more images.',
  inputDescription: 'What to make.',
});

builder.mutationField('describeImage', (t) =>
  t.field({
    type: Task,
    description: 'Starts describing an image in prompts that would make such an image.',
    rule: 'spend',
    args: {
      generator: t.arg.string({ required: true, description: 'Who describes it, such as agg/imga.' }),
      image: t.arg({ type: MediaInput, required: true, description: 'The image.' }),
      options: t.arg({
        type: 'JSON',
        description:
          'What the model takes besides, in the names of its vendor: see `optionsSchema` of `models`.',
      }),
      ...startArguments(t),
    },
    resolve: (
      _,
      { generator, image, options, idempotencyKey = null, ...start },
      { caller, services, signal },
    ) =>
      services.submissions.describeImage(
        caller,
        { generator, image, options },
        { idempotencyKey, ...start, signal },
      ),
  }),
);
