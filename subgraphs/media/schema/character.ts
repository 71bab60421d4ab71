import { builder } from './builder.ts';
import { MediaInput } from './media.ts';
import { startMutation } from './start-mutation.ts';
import { vendorOptions } from './vendor-options.ts';

const CharacterInput = builder.inputType('CharacterInput', {
  description: 'A person to appear in several pictures.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'A name for people.' }),
    images: t.field({
      type: [MediaInput],
      required: true,
      description: 'Pictures of the person, at least one.',
    }),
    ...vendorOptions(t),
  }),
});

const CharacterImageInput = builder.inputType('CharacterImageInput', {
  description: 'A picture, of a character if one is named.',
  fields: (t) => ({
    characterId: t.id({
      description: 'What a finished createCharacter answered; absent: no particular person.',
    }),
    model: t.string({ description: "Which of the generator's models; absent means its default." }),
    prompt: t.string({ required: true, description: 'What to show.' }),
    aspectRatio: t.string({ description: 'W:H with integers from 1 to 64.' }),
    resolution: t.string({ description: 'A size that the model supports.' }),
    count: t.int({ description: 'How many pictures.' }),
    seed: t.int({ description: 'Same seed, same prompt, same picture, where the model has seeds.' }),
    ...vendorOptions(t),
  }),
});

startMutation('createCharacter', CharacterInput, {
  description: 'Starts creating a character from pictures of a person; the result is a Character.',
  inputDescription: 'Who it is.',
});

startMutation('generateCharacterImage', CharacterImageInput, {
  description: 'Starts making pictures of a character.',
  inputDescription: 'What to make.',
});
