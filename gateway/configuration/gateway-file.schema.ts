import { z } from 'zod';

import { SIGNATURE_ALGORITHMS } from '../../platform/access/key-set.ts';
import { address, integer, must, errors, headerRules, responseRules, subgraph } from './subgraph.schema.ts';

/** The form of the gateway's configuration file. Each message is the remedy. */

const limits = z.strictObject({
  depth: integer(1, 200).optional().describe('Of nested fields (default: 15).'),
  aliases: integer(0, 10_000).optional().describe('In one document (default: 30).'),
  tokens: integer(10, 200_000).optional().describe('In one document (default: 4000).'),
  rootFields: integer(1, 1_000).optional().describe('Of one operation (default: 20).'),
  cost: integer(1, 100_000_000).optional().describe('Of one operation (default: 50000).'),
  batch: integer(1, 1_000).optional().describe('Operations in one request, as a list (default: 1, no list).'),
  bodyBytes: integer(1_000, 100_000_000).optional().describe('Of a JSON body (default: 1000000).'),
});

/** What operations cost, by `@cost` and `@listSize`. */
const costSchema = z.strictObject({
  max: integer(1, 1_000_000_000).describe('Most estimated cost of one operation.'),
  mode: z
    .enum(['measure', 'enforce'], must('must be measure or enforce'))
    .optional()
    .describe('Whether what costs more is named in the log, or refused (default: enforce).'),
  listSize: integer(0, 100_000)
    .optional()
    .describe('Length of a list of which nothing is said (default: 10).'),
  inAnswers: z
    .boolean(must('must be true or false'))
    .optional()
    .describe('Tells callers both costs in extensions.cost (default: false).'),
});

/** Operations that callers name by a hash, and which they may send at all. */
const persistedSchema = z.strictObject({
  manifest: z
    .string(must('must be the path of a file'))
    .min(1, must('must be the path of a file'))
    .optional()
    .describe("Apollo's manifest of persisted queries, from where this file is."),
  mode: z
    .enum(['log', 'allow', 'only'], must('must be log, allow or only'))
    .optional()
    .describe('What is not in the manifest: taken and named in the log, taken, or refused (default: allow).'),
  automatic: z
    .boolean(must('must be true or false'))
    .optional()
    .describe('Keeps texts that callers send with their sha256 (APQ), in memory (default: false).'),
});

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
  algorithms: z
    .array(
      z.enum(SIGNATURE_ALGORITHMS, must(`must be one of ${SIGNATURE_ALGORITHMS.join(', ')}`)),
      must('must be a list such as [RS256, ES256]'),
    )
    .min(1, must('must be a list such as [RS256, ES256]'))
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
const authenticationSchema = z.strictObject({
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

/** The whole file. */
export const gatewayFileSchema = z.strictObject(
  {
    subgraphs: z
      .record(z.string(), subgraph, must('must be an object: name of a subgraph -> its settings'))
      .optional()
      .describe('By the names of the supergraph.'),
    headers: headerRules.optional().describe('Which headers every subgraph gets, in this order.'),
    responseHeaders: responseRules
      .optional()
      .describe("Which headers of subgraphs' answers callers get (default: none)."),
    errors: errors
      .optional()
      .describe(
        'Of every subgraph that says nothing else (default: errors with a code as they are, others masked).',
      ),
    authentication: authenticationSchema
      .optional()
      .describe('Who callers are; without it subgraphs alone decide what their bearer tokens are.'),
    persistedOperations: persistedSchema.optional().describe('Operations by their hash (default: none).'),
    cost: costSchema
      .optional()
      .describe('Bounds what operations cost by @cost and @listSize (default: limits.cost alone).'),
    entityCacheBytes: integer(100_000, 100_000_000_000)
      .optional()
      .describe('Most bytes of all entities that are kept (default: 64000000). Read at the start alone.'),
    limits: limits.optional(),
    introspection: z
      .boolean(must('must be true or false'))
      .optional()
      .describe('Whether callers may ask for the schema (default: not in production).'),
  },
  must('must be an object'),
);

/** The file as it is used. */
export type GatewayFile = z.output<typeof gatewayFileSchema>;

/** The form as JSON Schema, for editors. */
export function gatewayFileJsonSchema(): object {
  return z.toJSONSchema(gatewayFileSchema, { io: 'input', target: 'draft-7' });
}
