import { builder } from './builder.ts';
import { MediaInput } from './media.ts';
import { CALLBACK_URL, Task } from './task.ts';

const CharacterInput = builder.inputType('CharacterInput', {
  description: 'A person who is to appear in several pictures.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'A name for people.' }),
    images: t.field({
      type: [MediaInput],
      required: true,
      description: 'Pictures of the person, at least one.',
    }),
  }),
});

const CharacterImageInput = builder.inputType('CharacterImageInput', {
  description: 'A picture, of a character if one is named.',
  fields: (t) => ({
    characterId: t.id({
      description: 'What a finished createCharacter answered; absent: nobody in particular.',
    }),
    model: t.string({ description: "Which of the generator's models; absent means its default." }),
    prompt: t.string({ required: true, description: 'What to show.' }),
    aspectRatio: t.string({ description: 'W:H with integers from 1 to 64.' }),
    resolution: t.string({ description: 'A size the model names.' }),
    count: t.int({ description: 'How many pictures.' }),
    seed: t.int({ description: 'Same seed, same prompt, same picture, where the model has seeds.' }),
  }),
});

builder.mutationField('createCharacter', (t) =>
  t.field({
    type: Task,
    description: 'Starts learning a person from pictures; the result is a Character.',
    rule: 'spend',
    args: {
      input: t.arg({ type: CharacterInput, required: true, description: 'Who it is.' }),
      callbackUrl: t.arg.string({ description: CALLBACK_URL }),
      idempotencyKey: t.arg.string({ description: 'The same key and input again answer the same task.' }),
    },
    resolve: (_, { input, idempotencyKey = null, callbackUrl }, { caller, services, signal }) =>
      services.submissions.createCharacter(caller, input, { idempotencyKey, callbackUrl, signal }),
  }),
);

builder.mutationField('generateCharacterImage', (t) =>
  t.field({
    type: Task,
    description: 'Starts making pictures of a character.',
    rule: 'spend',
    args: {
      input: t.arg({ type: CharacterImageInput, required: true, description: 'What to make.' }),
      callbackUrl: t.arg.string({ description: CALLBACK_URL }),
      idempotencyKey: t.arg.string({ description: 'The same key and input again answer the same task.' }),
    },
    resolve: (_, { input, idempotencyKey = null, callbackUrl }, { caller, services, signal }) =>
      services.submissions.generateCharacterImage(caller, input, { idempotencyKey, callbackUrl, signal }),
  }),
);
