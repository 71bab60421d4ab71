import { builder } from './builder.ts';

interface TokenUsageShape {
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** What a language model took for an answer. */
export const TokenUsage = builder.objectRef<TokenUsageShape>('TokenUsage').implement({
  description: 'The tokens of an answer, as its provider counts them.',
  fields: (t) => ({
    inputTokens: t.exposeInt('inputTokens', { description: 'Tokens it read.' }),
    outputTokens: t.exposeInt('outputTokens', { description: 'Tokens it wrote.' }),
  }),
});
