import { buildSchema, type ExecutionResult, parse } from 'graphql';
import { expect, it } from 'vitest';

import { anonymousCaller } from '../../../platform/access/caller.ts';
import { codedError } from '../../../platform/graphql/operations/errors.ts';
import type { ResultStream } from '../../../platform/graphql/operations/executor.ts';
import { createPushStream, isStream, type PushStream } from '../../../platform/graphql/operations/streams.ts';
import { follow } from './keep-following.ts';

const schema = buildSchema(
  'type Query { n: Int } type Entry { seq: Int! } type Subscription { log(afterSeq: Int): Entry }',
);
const query = 'subscription { log { seq } }';
const BREAK: ExecutionResult = { errors: [codedError('UNAVAILABLE', 'the subgraph stopped')] };

/** A subgraph's streams, and how many of them were left. */
function createSubgraph() {
  const opened: PushStream<ExecutionResult>[] = [];
  const counts = { left: 0 };
  const subscribe = async (): Promise<ResultStream> => {
    const onEnd = () => void (counts.left += 1);
    const made = createPushStream<ExecutionResult>({ maxPending: 10, overflow: () => BREAK, onEnd });
    opened.push(made);
    return made.stream;
  };
  return { opened, counts, federation: { apiSchema: () => schema, subscribe } };
}

async function followed(
  { federation }: ReturnType<typeof createSubgraph>,
  signal = new AbortController().signal,
): Promise<ResultStream> {
  const context = { caller: anonymousCaller('0'.repeat(32), '127.0.0.1'), signal };
  const request = { query, variables: {}, context };
  const outcome = await follow({ federation }, { request, document: parse(query), fields: ['log'] });
  if (!isStream(outcome)) throw new Error(JSON.stringify(outcome));
  return outcome;
}

it('leaves the stream of the subgraph when its reader leaves, or hangs up', async () => {
  const subgraph = createSubgraph();
  const stream = await followed(subgraph);
  const pending = stream.next();
  await stream.return?.();
  expect(await pending).toMatchObject({ done: true });
  expect(subgraph.counts.left).toBe(1);

  const hangUp = new AbortController();
  const other = (await followed(subgraph, hangUp.signal)).next();
  hangUp.abort();
  expect(await other).toMatchObject({ done: true });
  expect([subgraph.opened.length, subgraph.counts.left]).toEqual([2, 2]);
});

it('leaves a stream that broke off and goes on with another', async () => {
  const subgraph = createSubgraph();
  const stream = await followed(subgraph);
  subgraph.opened[0]?.push({ data: { log: { kilnResumeSeq: 1 } } });
  await stream.next();
  const next = stream.next();
  subgraph.opened[0]?.push(BREAK);
  await expect.poll(() => subgraph.opened.length).toBe(2);
  expect(subgraph.counts.left).toBe(1);
  subgraph.opened[1]?.push({ data: { log: { kilnResumeSeq: 2 } } });
  expect(await next).toMatchObject({ done: false });
  await stream.return?.();
  expect(subgraph.counts.left).toBe(2);
});

it('passes on an event that a joined subgraph fails, and follows the same stream', async () => {
  const subgraph = createSubgraph();
  const stream = await followed(subgraph);
  const lost = { ...BREAK, data: null };
  subgraph.opened[0]?.push(lost);
  expect((await stream.next()).value).toEqual(lost);
  subgraph.opened[0]?.push({ data: { log: { kilnResumeSeq: 2 } } });
  expect((await stream.next()).value).toMatchObject({ data: { log: { kilnResumeSeq: 2 } } });
  expect(subgraph.opened).toHaveLength(1);
  await stream.return?.();
});

it('hands on at once that a stream broke off which had given nothing, and asks no more', async () => {
  const subgraph = createSubgraph();
  const stream = await followed(subgraph);
  subgraph.opened[0]?.push(BREAK);
  expect((await stream.next()).value).toEqual(BREAK);
  expect(subgraph.opened).toHaveLength(1);
  await stream.return?.();
});

it('asks again as whom it was asked for, and ends with the break where it is refused then', async () => {
  const subgraph = createSubgraph();
  const refusal: ExecutionResult = { errors: [codedError('NOT_FOUND', 'no such log')] };
  const asked: { readonly query: string; readonly context: unknown }[] = [];
  const federation = {
    apiSchema: () => schema,
    subscribe: async (request: { readonly query: string; readonly context: unknown }) => {
      asked.push(request);
      return asked.length === 1 ? await subgraph.federation.subscribe() : refusal;
    },
  };
  const context = { caller: anonymousCaller('0'.repeat(32), null), signal: new AbortController().signal };
  const request = { query, variables: {}, context, transport: 'sse' as const };
  const stream = await follow({ federation }, { request, document: parse(query), fields: ['log'] });
  if (!isStream(stream)) throw new Error('no stream');
  subgraph.opened[0]?.push({ data: { log: { kilnResumeSeq: 3 } } });
  await stream.next();
  subgraph.opened[0]?.push(BREAK);
  expect((await stream.next()).value).toEqual(BREAK);
  expect(asked).toMatchObject(
    [request.context, request.context].map((own) => ({ context: own, transport: 'sse' })),
  );
  expect(asked[1]?.query).toContain('afterSeq');
  expect(asked[0]?.query).not.toContain('afterSeq');
  await stream.return?.();
});
