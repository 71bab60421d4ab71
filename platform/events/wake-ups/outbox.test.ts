import { expect, test } from 'vitest';

import { createOutbox, type Message, readMessage } from './outbox.ts';

function readEntries(payloads: readonly string[]): Message['entries'] {
  return payloads.flatMap((payload) => readMessage(payload)?.entries ?? []);
}

test('keeps the latest version of each key', () => {
  const outbox = createOutbox('me');
  outbox.add('task', 'a', 1);
  outbox.add('task', 'a', 3);
  outbox.add('task', 'a', 2);
  outbox.add('other', 'a', 1);
  expect(readEntries(outbox.take(10))).toEqual([
    ['task', 'a', 3],
    ['other', 'a', 1],
  ]);
  expect(outbox.size).toBe(0);
});

test('keeps every payload under the size that NOTIFY takes, also with keys that are long in bytes', () => {
  const outbox = createOutbox('me');
  for (let number = 0; number < 1000; number += 1) {
    outbox.add('task', `${'\u{1F525}"\n'.repeat(50)}${number}`, Number.MAX_SAFE_INTEGER);
  }
  const payloads = outbox.take(10_000);
  for (const payload of payloads) expect(Buffer.byteLength(payload)).toBeLessThan(8000);
  expect(readEntries(payloads)).toHaveLength(1000);
});

test('takes no more payloads than asked, and the rest later', () => {
  const outbox = createOutbox('me');
  for (let number = 0; number < 1000; number += 1) outbox.add('task', `key-${number}`, 1);
  expect(outbox.take(1)).toHaveLength(1);
  expect(outbox.size).toBeGreaterThan(0);
  outbox.take(1000);
  expect(outbox.size).toBe(0);
});

test('puts back what could not be sent, without hiding what came meanwhile', () => {
  const outbox = createOutbox('me');
  outbox.add('task', 'a', 1);
  outbox.add('task', 'b', 1);
  const payloads = outbox.take(10);
  outbox.add('task', 'a', 2);
  outbox.putBack(payloads);
  const again = outbox.take(10);
  expect(again.map((payload) => readMessage(payload)?.gap)).toEqual([false]);
  expect(readEntries(again)).toEqual([
    ['task', 'a', 2],
    ['task', 'b', 1],
  ]);
});

test('drops the oldest keys when it is full, and says that there is a gap once', () => {
  const outbox = createOutbox('me', 2);
  for (const key of ['a', 'b', 'c']) outbox.add('task', key, 1);
  const [payload = ''] = outbox.take(10);
  expect(readMessage(payload)).toEqual({
    origin: 'me',
    gap: true,
    entries: [
      ['task', 'b', 1],
      ['task', 'c', 1],
    ],
  });
  outbox.add('task', 'd', 1);
  expect(readMessage(outbox.take(1)[0] ?? '')?.gap).toBe(false);
  // One that could not be sent says it again.
  outbox.putBack([payload]);
  expect(readMessage(outbox.take(1)[0] ?? '')?.gap).toBe(true);
});

test('refuses a key that could not be sent', () => {
  const outbox = createOutbox('me');
  expect(() => outbox.add('task', 'x'.repeat(501), 1)).toThrow('cannot publish');
  expect(() => outbox.add('task', 'x', Number.NaN)).toThrow('cannot publish');
});

test('reads only what is one of ours', () => {
  for (const payload of ['', 'x', '3', 'null', '{}', '{"origin":"a","gap":false,"entries":[[1]]}']) {
    expect(readMessage(payload)).toBeUndefined();
  }
});
