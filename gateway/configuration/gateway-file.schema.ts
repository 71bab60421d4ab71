import { z } from 'zod';

import { authenticationSchema } from './authentication.schema.ts';
import { address, integer, must } from './remedies.ts';

/** The form of the gateway's configuration file. Each message is the remedy. */

/** Headers that belong to a connection or a body, and those by which Kiln's own processes know each other. */
const RESERVED = new Set([
  'host',
  'connection',
  'content-length',
  'content-type',
  'transfer-encoding',
  'upgrade',
  'accept',
  'x-kiln-caller',
]);

const header = z
  .string(must('must be the name of a header'))
  .regex(/^[\w!#$%&'*+.^`|~-]+$/, must('must be the name of a header'))
  .transform((name) => name.toLowerCase())
  .refine((name) => !RESERVED.has(name), must('is a header that the gateway writes itself: choose another'));

const headerRule = z.union(
  [
    z.strictObject({
      propagate: header.describe("Sends this header of the caller's request on."),
      as: header.optional().describe('The name that the subgraph gets it under (default: the same).'),
    }),
    z.strictObject({
      insert: header.describe('Sends this header, whatever the caller sent.'),
      value: z
        .string(must('must be a text'))
        .regex(/^[^\r\n\0]*$/, must('must be one line')) // oxlint-disable-line no-control-regex -- refused, as in every header
        .describe('Its value; ${NAME} stands for an environment variable.'),
    }),
    z.strictObject({
      claim: z
        .string(must('must be the name of a claim'))
        .describe("Sends this claim of the caller's token."),
      as: header.describe('The header that the subgraph gets it in.'),
    }),
    z.strictObject({ remove: header.describe('Sends this header no more, also where an earlier rule did.') }),
  ],
  must('must be one of { propagate, as }, { insert, value }, { claim, as } and { remove }'),
);
const headerRules = z
  .array(headerRule, must('must be a list of rules'))
  .max(100, must('must have at most 100 rules'));

const errors = z
  .enum(['whole', 'codes', 'masked'], must('must be whole, codes or masked'))
  .describe('What callers see of errors: as the subgraph says them; their codes alone; or "internal error".');

const subgraph = z.strictObject({
  url: address(['http:', 'https:'])
    .optional()
    .describe('Its GraphQL over HTTP (default: as the supergraph says).'),
  websocketUrl: address(['ws:', 'wss:'])
    .optional()
    .describe('Its graphql-ws (default: at the same address as its HTTP).'),
  timeoutMs: integer(10, 600_000).optional().describe('For a whole answer (default: 30000).'),
  retries: integer(0, 5)
    .optional()
    .describe('How often a query that got no answer is sent again (default: 0).'),
  headers: headerRules.optional().describe('After those for every subgraph.'),
  errors: errors.optional(),
});

const limits = z.strictObject({
  depth: integer(1, 200).optional().describe('Of nested fields (default: 15).'),
  aliases: integer(0, 10_000).optional().describe('In one document (default: 30).'),
  tokens: integer(10, 200_000).optional().describe('In one document (default: 4000).'),
  rootFields: integer(1, 1_000).optional().describe('Of one operation (default: 20).'),
  cost: integer(1, 100_000_000).optional().describe('Of one operation (default: 50000).'),
  bodyBytes: integer(1_000, 100_000_000).optional().describe('Of a JSON body (default: 1000000).'),
});

/** The whole file. */
export const gatewayFileSchema = z.strictObject(
  {
    subgraphs: z
      .record(z.string(), subgraph, must('must be an object: name of a subgraph -> its settings'))
      .optional()
      .describe('By the names of the supergraph.'),
    headers: headerRules.optional().describe('Which headers every subgraph gets, in this order.'),
    errors: errors
      .optional()
      .describe(
        'Of every subgraph that says nothing else (default: errors with a code as they are, others masked).',
      ),
    authentication: authenticationSchema
      .optional()
      .describe('Who callers are; without it subgraphs alone decide what their bearer tokens are.'),
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

/** A rule for the headers that a subgraph gets. */
export type HeaderRule = z.output<typeof headerRule>;

/** How errors of a subgraph are shown. */
export type ErrorInclusion = z.output<typeof errors>;

/** The form as JSON Schema, for editors. */
export function gatewayFileJsonSchema(): object {
  return z.toJSONSchema(gatewayFileSchema, { io: 'input', target: 'draft-7' });
}
