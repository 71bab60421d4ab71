import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

import { graphql, type GraphQLSchema } from 'graphql';

import { listen } from '../federation/gateways.ts';
import { buildSchemaFor, SHOP } from './world.ts';

/**
 * The subgraphs of the shop in one process, the collector of traces and the keys of the issuer. An answer is computed once: what is measured is not what they cost. A request
 * without the tenant that the gateway has to send on is refused. Sends {url}; to any message {traces}, how many bodies of traces came since the last one.
 */

/** Most answers that are kept. */
const MAX_ANSWERS = 20_000;

const schemas = new Map<string, GraphQLSchema>(SHOP.map((name) => [`/${name}`, buildSchemaFor(name)]));
const answers = new Map<string, Promise<string>>();
let traces = 0;

async function executeBody(path: string, body: string): Promise<string> {
  const schema = schemas.get(path);
  if (schema === undefined) return '{"data":{"thing7":{"id":"7","part7":"part","__typename":"Thing7"}}}';
  const { query, variables } = JSON.parse(body) as { query: string; variables?: Record<string, unknown> };
  return JSON.stringify(await graphql({ schema, source: query, variableValues: variables ?? {} }));
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { url: path = '', headers } = request;
  if (path === '/keys.json') return void response.end(process.env['BENCH_KEYS']);
  const body = await text(request);
  if (path.endsWith('/v1/traces')) {
    traces += 1;
    return void response.setHeader('content-type', 'application/json').end('{}');
  }
  if (headers['x-tenant'] === undefined) return void response.writeHead(400).end('no tenant');
  const key = `${path} ${body}`;
  const known = answers.get(key) ?? executeBody(path, body);
  if (answers.size < MAX_ANSWERS) answers.set(key, known);
  response.setHeader('content-type', 'application/json').end(await known);
}

process.on('disconnect', () => process.exit(0));
process.on('message', () => {
  process.send?.({ traces });
  traces = 0;
});
process.send?.({ url: await listen((request, response) => void serve(request, response)) });
