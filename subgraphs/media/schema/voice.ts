import type { Voice as VoiceShape } from '../synchronous/voices.ts';
import { builder } from './builder.ts';

/** A voice that can speak. */
export const Voice = builder.objectRef<VoiceShape>('Voice').implement({
  description: 'A voice that can speak.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'What `voiceId` takes.' }),
    name: t.exposeString('name', { description: 'Name for people.' }),
    language: t.exposeString('language', { nullable: true, description: 'Its language, when known.' }),
    cloned: t.exposeBoolean('cloned', { description: 'Whether it was cloned from a recording.' }),
  }),
});

const generatorArgument = 'Who speaks, such as agg/speech_router.';

builder.queryField('voices', (t) =>
  t.field({
    type: [Voice],
    description:
      'The voices of a generator, its own and those that the caller cloned; at most two seconds old.',
    rule: 'anyone',
    args: { generator: t.arg.string({ required: true, description: generatorArgument }) },
    resolve: async (_, { generator }, { caller, services }) => [
      ...(await services.voices.list(caller, generator)),
    ],
  }),
);

builder.queryField('providerVoices', (t) =>
  t.field({
    type: 'JSON',
    description:
      "What the generator's provider itself says of its voices; {} for all but administrators, as it lists everybody's.",
    rule: 'anyone',
    args: { generator: t.arg.string({ required: true, description: generatorArgument }) },
    resolve: (_, { generator }, { caller, services }) => services.voices.answer(caller, generator),
  }),
);
