import { expect, it } from 'vitest';

import { createHandshakeQueue } from './handshake-queue.ts';

const stays = new AbortController().signal;

it('gives a few turns at once, and the next one to whoever has waited longest', async () => {
  const line = createHandshakeQueue({ atOnce: 2, turnMs: 60_000 });
  const [first] = await Promise.all([line.enter(stays), line.enter(stays)]);
  const order: string[] = [];
  const third = line.enter(stays).then((turn) => (order.push('third'), turn));
  const fourth = line.enter(stays).then((turn) => (order.push('fourth'), turn));
  expect([line.waiting, order]).toEqual([2, []]);
  first?.end();
  first?.end();
  const turn = await third;
  expect([line.waiting, order]).toEqual([1, ['third']]);
  turn?.end();
  await fourth;
  expect(order).toEqual(['third', 'fourth']);
});

it('lets who is gone out of the line, and tells who has waited too long that there is no turn', async () => {
  const line = createHandshakeQueue({ atOnce: 1, turnMs: 60_000, patienceMs: 20 });
  const only = await line.enter(stays);
  const leaving = new AbortController();
  const left = line.enter(leaving.signal);
  leaving.abort();
  expect([await left, await line.enter(leaving.signal), line.waiting]).toEqual([null, null, 0]);
  expect([await line.enter(stays), line.waiting]).toEqual([null, 0]);
  only?.end();
  expect(await line.enter(stays)).not.toBeNull();
});

it('ends the turn of a client that says nothing', async () => {
  const line = createHandshakeQueue({ atOnce: 1, turnMs: 5 });
  await line.enter(stays);
  expect(await line.enter(stays)).not.toBeNull();
});
