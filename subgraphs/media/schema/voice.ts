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
    description: 'The voices of a generator, its own and the cloned ones; at most two seconds old.',
    rule: 'anyone',
    args: { generator: t.arg.string({ required: true, description: generatorArgument }) },
    resolve: async (_, { generator }, { services }) => [...(await services.voices.list(generator))],
  }),
);

builder.queryField('providerVoices', (t) =>
  t.field({
    type: 'JSON',
    description:
      "What the generator's provider itself says of its voices, for callers who know that provider.",
    rule: 'anyone',
    args: { generator: t.arg.string({ required: true, description: generatorArgument }) },
    resolve: (_, { generator }, { services }) => services.voices.answer(generator),
  }),
);
