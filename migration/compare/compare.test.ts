import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { sections } from '../../rest-compat/tables.ts';
import type { Exchange } from '../traffic/exchange.ts';
import { type CompareParts, compareTraffic } from './compare.ts';
import { createFindOperation } from './operations.ts';
import { runComparison } from './program.ts';
import type { ReplayedService } from './service.ts';
import { createTally } from './tally.ts';

const find = createFindOperation(sections);
const headers = { 'content-type': 'application/json' };

const exchange = (method: string, target: string, answer: object): Exchange => ({
  at: '',
  request: { method, target, headers: {}, body: null },
  response: { status: 200, headers, body: { text: JSON.stringify(answer) } },
});

/** A new side with an answer for each path, and what it was asked. */
function service(answers: Readonly<Record<string, object>>) {
  const asked: string[] = [];
  const now: ReplayedService = {
    async send({ method, target: recorded }, target = recorded) {
      asked.push(`${method} ${target}`);
      const json = answers[target];
      return json === undefined ? { status: 404, headers, json: {} } : { status: 200, headers, json };
    },
  };
  return { now, asked };
}

async function comparing(now: ReplayedService, maySendStarts: boolean, ...exchanges: readonly Exchange[]) {
  return tallied({ old: null, now, maySendStarts }, exchanges);
}

/** The same with an old service that is asked as well. */
async function comparingWith(old: ReplayedService, now: ReplayedService, ...exchanges: readonly Exchange[]) {
  return tallied({ old, now, maySendStarts: true }, exchanges);
}

async function tallied(
  services: Pick<CompareParts, 'old' | 'now' | 'maySendStarts'>,
  exchanges: readonly Exchange[],
) {
  const tally = createTally();
  await compareTraffic(
    { ...services, find, maxWaitMs: 1_000, tally },
    (async function* () {
      yield* exchanges;
    })(),
  );
  return tally.result();
}

const start = exchange('POST', '/api/agg/imga/async/generate/image?prompt=a', { status: true, data: 'old' });
const poll = (answer: object) => exchange('GET', '/api/task/status/old', answer);

/** The whole of it, with a recording in a file and the new side on a socket. */
async function compared(answer: object) {
  const folder = await mkdtemp(path.join(tmpdir(), 'kiln-compare-'));
  const server = createServer((_request, response) => {
    response.writeHead(200, headers).end(JSON.stringify(answer));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const file = path.join(folder, 'recorded.jsonl');
  await writeFile(file, JSON.stringify(poll({ status: true, data: { url: 'http://there/a' } })));
  const { port } = server.address() as AddressInfo;
  try {
    return await runComparison(['--recorded', file, '--new', `http://127.0.0.1:${port}`], sections);
  } finally {
    server.close();
    await rm(folder, { recursive: true });
  }
}

describe('a comparison', () => {
  it('ends with 0 when all is equal, and with 1 when something differs', async () => {
    const equal = await compared({ status: true, data: { url: 'http://here/a' } });
    expect([equal.exitCode, equal.text]).toEqual([0, expect.stringContaining('GET /api/task/status')]);
    expect((await compared({ status: true, data: {} })).exitCode).toBe(1);
  });

  it('is no success where a service does not answer', async () => {
    const silent: ReplayedService = { send: async () => null };
    const { notCompared, isEqual } = await comparing(silent, true, poll({ status: true }));
    expect(notCompared.map(({ reason }) => reason)).toEqual(['the new service did not answer']);
    expect(isEqual).toBe(false);
    const { now } = service({ '/api/task/status/old': { status: true } });
    const other = await comparingWith(silent, now, poll({ status: true }));
    expect(other.notCompared.map(({ reason }) => reason)).toEqual(['the old service did not answer']);
    expect(other.isEqual).toBe(false);
  });

  it("asks for what a recorded start made by the new side's id", async () => {
    const { now, asked } = service({
      '/api/agg/imga/async/generate/image?prompt=a': { status: true, data: 'new' },
      '/api/task/status/new': { status: true, data: { url: 'http://here/a' } },
    });
    const ended = poll({ status: true, data: { url: 'http://there/a' } });
    const { isEqual, operations } = await comparing(now, true, start, ended);
    expect([isEqual, operations.length, asked.at(-1)]).toEqual([true, 2, 'GET /api/task/status/new']);
  });

  it('sends no start to a side that is no sandbox, and never a write', async () => {
    const { now, asked } = service({});
    const write = exchange('POST', '/payment/refund/pay-1', { code: 200 });
    const { notCompared } = await comparing(now, false, start, write);
    expect(asked).toEqual([]);
    expect(notCompared.map(({ reason }) => reason)).toEqual([
      'it starts work, and the new side is no sandbox',
      'it changes data, money or sign-in',
    ]);
  });

  it.each([
    ['was too large', { omittedBytes: 2_000_000 }],
    ['was cut off', { text: '{"status":tr' }],
  ])('does not take an answer for equal that %s in the recording', async (_, body) => {
    const { now, asked } = service({ '/api/task/status/old': { status: true } });
    const recorded = poll({});
    const one = { ...recorded, response: { ...recorded.response, body } };
    const { notCompared, operations } = await comparing(now, true, one);
    expect(notCompared.map(({ reason }) => reason)).toEqual(['its answer was not recorded as a whole']);
    expect([operations, asked]).toEqual([[], []]);
  });

  it('does not take a thing that only the old side has, or a task that has ended since, for a difference', async () => {
    const unknown = service({ '/api/task/status/old': { status: false, data: null, msg: 'unknown' } });
    const ended = service({ '/api/task/status/old': { status: true, data: { url: 'http://here/a' } } });
    const running = poll({ status: 'processing', data: { percent: 50 } });
    const payment = exchange('GET', '/payment/pay-1', { code: 200, data: { id: 'pay-1' } });
    const reasons = async (now: ReplayedService, one: Exchange) =>
      (await comparing(now, true, one)).notCompared.map(({ reason }) => reason);
    expect((await reasons(unknown.now, running))[0]).toMatch('is not known here');
    expect((await reasons(unknown.now, payment))[0]).toMatch('is not known here');
    expect(await reasons(ended.now, running)).toEqual(['the task ran there and had ended here']);
  });
});
