import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';

import { afterAll, beforeAll, expect, it } from 'vitest';

import {
  composeTwoSubgraphs,
  createTwoSubgraphs,
} from '../../platform/graphql/subgraph-server/two-subgraphs.fixture.ts';
import { isWhole } from '../kit/extent.ts';
import { freePorts } from '../kit/processes/free-ports.ts';
import { startGateway } from './other-gateway.ts';
import { isReady, temporaryFolder } from './places.ts';
import { type PlainSubgraph, servePlainly } from './plain-subgraph.ts';
import { type Program, startProgram } from './processes.ts';

/** The example of docs/gateway.md, over two subgraphs that know nothing of Kiln. */

const page = readFileSync(path.join(import.meta.dirname, '../../docs/gateway.md'), 'utf8');
const example = /```yaml\n(.*?)```/s.exec(page)?.[1] ?? '';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let media: PlainSubgraph;
let workflow: PlainSubgraph;
let gateway: Program;
let url: string;
let supergraph: string;
beforeAll(async () => {
  folder = await temporaryFolder();
  const two = createTwoSubgraphs();
  [media, workflow] = await Promise.all([servePlainly(two.media), servePlainly(two.workflow)]);
  supergraph = path.join(folder.path, 'supergraph.graphql');
  // Not where they are: the configuration names that.
  await writeFile(supergraph, composeTwoSubgraphs());
  const config = path.join(folder.path, 'gateway.yaml');
  await writeFile(
    config,
    example
      .replaceAll('127.0.0.1:4101', new URL(media.url).host)
      .replaceAll('127.0.0.1:4102', new URL(workflow.url).host),
  );
  const [port] = await freePorts(1);
  url = `http://127.0.0.1:${port}`;
  gateway = await startAsProgram(['--supergraph', supergraph, '--config', config], url);
});

/** As an operator starts it. */
const startAsProgram = (words: readonly string[], at: string): Promise<Program> =>
  startProgram({
    command: 'npm',
    words: ['run', '--silent', 'start:gateway', '--', ...words],
    settings: { PORT: new URL(at).port, RATE_LIMIT: 'off', GATEWAY_KEY: 'key-of-the-gateway' },
    ready: () => isReady(at),
  });

afterAll(async () => {
  await gateway?.end();
  await Promise.all([media?.close(), workflow?.close()]);
  await folder?.remove();
});

async function ask(query: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query }),
  });
  return (await response.json()) as {
    readonly data?: unknown;
    readonly errors?: readonly { readonly message: string; readonly extensions: Record<string, unknown> }[];
  };
}

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

it('sends the headers on that its rules name, and no other', async () => {
  const before = [media.seen.length, workflow.seen.length] as const;
  const answer = await ask('{ task(id: "t2") { id execution { name } } }', {
    'x-tenant': 'acme',
    'accept-language': 'de',
    'x-other': 'no',
    authorization: 'Bearer of-a-caller',
    traceparent: TRACEPARENT,
  });
  expect(answer).toEqual({ data: { task: { id: 't2', execution: { name: 't2' } } } });
  const [toMedia] = media.seen.slice(before[0]);
  const [toWorkflow] = workflow.seen.slice(before[1]);
  // Nothing is traced here, so that the caller's trace goes on behind the gateway.
  const all = {
    traceparent: TRACEPARENT,
    'x-tenant': 'acme',
    'x-language': 'de',
    'x-gateway-key': 'key-of-the-gateway',
  };
  expect(toMedia).toMatchObject(all);
  expect(toWorkflow).toMatchObject({ ...all, 'x-team': 'orders' });
  for (const name of ['x-other', 'authorization', 'x-team', 'accept-language'])
    expect(toMedia).not.toHaveProperty(name);
});

it('shows the errors of one subgraph whole, and of another their codes', async () => {
  const { errors } = await ask('{ task(id: "t2") { broken trouble } }');
  // Of media its own words; Apollo Server gives every error of workflow a code.
  const messages = errors?.map(({ message }) => message).toSorted();
  expect(messages).toEqual(['password=hunter2 at db.internal', 'the subgraph says INTERNAL_SERVER_ERROR']);
  expect(JSON.stringify(errors)).not.toContain('stacktrace');
});

it('has the limits of the file, and no introspection', async () => {
  const aliases = Array.from({ length: 21 }, (_, index) => `a${index}: caller`).join(' ');
  expect((await ask(`{ ${aliases} }`)).errors?.[0]?.extensions['limit']).toBeDefined();
  expect((await ask('{ __schema { queryType { name } } }')).errors?.[0]?.message).toContain('introspection');
});

it('does not start with mistakes, and names each with its line, its field and the remedy', async () => {
  const config = path.join(folder.path, 'wrong.yaml');
  await writeFile(
    config,
    [
      'headers:',
      '  - propagate: host',
      'subgraphs:',
      '  medai:',
      '    timeoutMs: soon',
      '    colour: red',
      'limit: 3',
    ].join('\n'),
  );
  const words = ['--supergraph', supergraph, '--config', config];
  const [port] = await freePorts(1);
  const started = isWhole ? startAsProgram(words, `http://127.0.0.1:${port}`) : startGateway(words);
  const refusal = await started.then(
    () => 'it has started',
    (error: unknown) => String(error),
  );
  for (const line of [
    'wrong.yaml, line 2: headers[0]',
    'wrong.yaml, line 5: subgraphs.medai.timeoutMs must be a whole number from 10 to 600000',
    'wrong.yaml, line 6: subgraphs.medai.colour is no field of a subgraph: remove it, or correct its name',
    'wrong.yaml, line 7: limit is no field of the file: remove it, or correct its name',
  ])
    expect(refusal).toContain(line);
});
