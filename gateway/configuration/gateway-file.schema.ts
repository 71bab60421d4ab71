import { z } from 'zod';

import { authenticationSchema } from './authentication.schema.ts';
import { costSchema } from './cost.schema.ts';
import { persistedSchema } from './persisted.schema.ts';
import { integer, must } from './remedies.ts';
import { errors, headerRules, responseRules, subgraph } from './subgraph.schema.ts';

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
