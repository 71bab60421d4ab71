import { checkPrompt, type PromptCheck as PromptCheckShape } from '../synchronous/prompt-check.ts';
import { builder } from './builder.ts';

const PromptCheck = builder.objectRef<PromptCheckShape>('PromptCheck').implement({
  description: 'Whether a prompt is likely to be refused.',
  fields: (t) => ({
    allowed: t.exposeBoolean('allowed', {
      description: 'Whether nothing is; the upstream may still refuse it.',
    }),
    reasons: t.exposeStringList('reasons', { description: 'Why it may be refused, in sentences.' }),
  }),
});

builder.queryField('checkPrompt', (t) =>
  t.field({
    type: PromptCheck,
    description:
      'Looks a prompt over before it is paid for: length, and words that are commonly refused. A guess, made here.',
    rule: 'anyone',
    args: {
      generator: t.arg.string({ required: true, description: 'Who would get it, such as imga.' }),
      prompt: t.arg.string({ required: true, description: 'The prompt.' }),
    },
    resolve: (_, { generator, prompt }, { services }) => checkPrompt(services.registry, generator, prompt),
  }),
);
