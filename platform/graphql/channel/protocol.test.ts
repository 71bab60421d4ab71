import { createSecretKey } from 'node:crypto';

import { describe, expect, it } from 'vitest';

import {
  answerFrames,
  batchFrame,
  batchShape,
  connectionKey,
  createBatchSigner,
  createFrameReader,
  newNonce,
  readAnswer,
  readBatch,
} from './protocol.ts';

/** A frame of this text, after its length. */
function createFrame(text: string): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(Buffer.byteLength(text));
  return Buffer.concat([length, Buffer.from(text)]);
}

/** The frames that are read of bytes which come in pieces of a size. */
function readIn(size: number, bytes: Buffer, maxBytes = 10): string[] {
  const read = createFrameReader(maxBytes);
  const frames: string[] = [];
  for (let at = 0; at < bytes.length; at += size)
    frames.push(...read(bytes.subarray(at, at + size)).map((frame) => frame.toString()));
  return frames;
}

describe('frames', () => {
  const texts = ['one', '', 'zwölf', '0123456789'];
  const bytes = Buffer.concat(texts.map(createFrame));

  it('are read of what comes in pieces of any size', () => {
    for (let size = 1; size <= bytes.length; size += 1)
      expect([size, readIn(size, bytes)]).toEqual([size, texts]);
  });

  it('are as large as they may be, and no larger', () => {
    expect(readIn(100, createFrame('0123456789'), 10)).toEqual(['0123456789']);
    expect(() => readIn(100, createFrame('0123456789'), 9)).toThrow('a frame of 14 bytes is too large');
    // As soon as it is known how large one would be.
    expect(() => readIn(1, createFrame('0123456789').subarray(0, 4), 9)).toThrow('too large');
  });

  it('of answers have their numbers and texts', () => {
    const answers = [
      { id: 1, text: '{"data":null}' },
      { id: 4_294_967_295, text: 'ä' },
      { id: 7, text: '' },
    ];
    const frames = createFrameReader(100)(answerFrames(answers));
    expect(frames.map(readAnswer).map(({ id, bytes: text }) => ({ id, text: text.toString() }))).toEqual(
      answers,
    );
  });

  it('of batches are signed by their content and their number', () => {
    const key = createSecretKey(Buffer.alloc(32, 1));
    const signer = createBatchSigner(key);
    const read = (frame: Buffer) => readBatch(createFrameReader(100)(frame)[0] ?? Buffer.alloc(0));
    const sent = ['[1]', '[1]', '[ä]'].map((text) => read(batchFrame(text, signer)));
    expect(sent.map(({ payload }) => payload.toString())).toEqual(['[1]', '[1]', '[ä]']);
    expect(new Set(sent.map(({ mac }) => mac.toString('hex'))).size).toBe(3);
    const counterpart = createBatchSigner(key);
    expect(sent.map(({ payload }) => counterpart.next(payload))).toEqual(sent.map(({ mac }) => mac));
    expect(sent.map(({ mac }) => mac.length)).toEqual([32, 32, 32]);
  });
});

it('the key of a connection is of everything that both sides have said', () => {
  const facts = { audience: 'media', asking: 'a', answering: 'b' };
  const keys = [
    connectionKey('internal', facts),
    connectionKey('another', facts),
    connectionKey('internal', { ...facts, audience: 'workflow' }),
    connectionKey('internal', { ...facts, asking: 'c' }),
    connectionKey('internal', { ...facts, answering: 'c' }),
    connectionKey('internal', { ...facts, asking: 'b', answering: 'a' }),
  ].map((key) => key.export().toString('hex'));
  expect(new Set(keys).size).toBe(keys.length);
  expect(connectionKey('internal', facts).export().toString('hex')).toBe(keys[0]);
  expect(newNonce()).toMatch(/^[\w-]{32}$/);
  expect(newNonce()).not.toBe(newNonce());
});

describe('a batch', () => {
  const caller = { kind: 'anonymous', scopes: [], traceId: 't' };
  const ask = { ask: 1, slot: 0, variables: {}, caller };
  const isRight = (message: object) => batchShape.safeParse([message]).success;

  it.each<[string, object, boolean]>([
    ['no list of variables', { ...ask, variables: [] }, false],
    ['no variables that are null', { ...ask, variables: null }, false],
    ['no text for variables', { ...ask, variables: 'v' }, false],
    ['no question of number 0', { ...ask, ask: 0 }, false],
    ['no place below 0', { ...ask, slot: -1 }, false],
    ['no part of a number', { ...ask, slot: 0.5 }, false],
    ['no leaving of nothing', { leave: 0 }, false],
    ['leaving', { leave: 1 }, true],
  ])('has %s', (_, message, expected) => {
    expect(isRight(message)).toBe(expected);
  });
});
