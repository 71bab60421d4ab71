import { z } from 'zod';

import { address, must } from './remedies.ts';

const texts = (remedy: string) =>
  z.array(z.string(must(remedy)).min(1, must(remedy)), must(remedy)).min(1, must(remedy));

const issuer = z.strictObject({
  issuer: z
    .string(must('must be a text'))
    .min(1, must('must be a text'))
    .describe('The claim iss of its tokens.'),
  jwks: address(['http:', 'https:']).describe('Where its keys are (jwks_uri).'),
  audiences: texts('must be a list of texts')
    .optional()
    .describe('One of these must be the claim aud (default: any, also tokens for others).'),
  algorithms: texts('must be a list such as [RS256, ES256]')
    .optional()
    .describe('Signatures that are taken (default: all with public keys).'),
});

const policy = z.strictObject({
  claim: z.string(must('must be the name of a claim')).describe('The claim that decides.'),
  anyOf: texts('must be a list of texts')
    .optional()
    .describe(
      'Values of which it must be or hold one (default: it must be there, and neither false nor empty).',
    ),
});

/** Who callers are, and what they may see. */
export const authenticationSchema = z.strictObject({
  issuers: z
    .array(issuer, must('must be a list of issuers'))
    .min(1, must('must have an issuer'))
    .max(20, must('must have at most 20 issuers'))
    .describe('Whose JWTs are taken; any other bearer token is refused.'),
  scopesClaim: z
    .string(must('must be the name of a claim'))
    .optional()
    .describe(
      'The claim with the scopes of @requiresScopes: a list, or a text with spaces (default: scope).',
    ),
  policies: z
    .record(z.string(), policy, must('must be an object: name of a policy -> { claim, anyOf }'))
    .optional()
    .describe('Who has the policies of @policy.'),
});
