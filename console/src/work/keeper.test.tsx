import { afterEach, expect, it, vi } from 'vitest';

import { client } from '../api/client.ts';
import { CallerDocument } from '../api/documents/api.ts';
import { caller } from '../testing/over-server.tsx';
import { createKeeper, onDraft, readDraft, setDraft } from './keeper.ts';

afterEach(async () => {
  vi.restoreAllMocks();
  await client.clearStore();
});

const signIn = (id: string) => {
  const { caller: who, viewer } = caller();
  client.cache.writeQuery({ query: CallerDocument, data: { caller: { ...who, id }, viewer } as never });
};
let at = 1_000;
const later = () => void vi.spyOn(Date, 'now').mockReturnValue((at += 1_000));

it('what is kept is of each account, and of a visitor until somebody signs in', () => {
  const keeper = createKeeper<string>('kiln.test');
  later();
  keeper.write('form', 'of a visitor');
  expect([keeper.read('form'), keeper.read('other')]).toEqual(['of a visitor', undefined]);
  signIn('usr_ada');
  expect(keeper.read('form')).toBe('of a visitor');
  later();
  keeper.write('form', 'of ada');
  signIn('usr_ben');
  expect(keeper.read('form')).toBeUndefined();
  later();
  keeper.write('form', 'of ben');
  signIn('usr_ada');
  expect(keeper.read('form')).toBe('of ada');
  // Another tab, after a reload.
  expect(createKeeper<string>('kiln.test').read('form')).toBe('of ada');
  expect(createKeeper<string>('kiln.other').read('form')).toBeUndefined();
});

it('sixty things are kept, the newest, and what other tabs write', () => {
  const [one, other] = [createKeeper<number>('kiln.test'), createKeeper<number>('kiln.test')];
  for (let index = 0; index < 61; index += 1) {
    later();
    one.write(`form ${index}`, index);
  }
  expect([one.read('form 0'), one.read('form 1')]).toEqual([undefined, 1]);
  later();
  other.write('of another tab', 7);
  const fresh = createKeeper<number>('kiln.test');
  expect([fresh.read('of another tab'), fresh.read('form 60'), fresh.read('form 1')]).toEqual([
    7,
    60,
    undefined,
  ]);
});

it('what is too large or can not be stored lives as long as the page, and nothing else is read for it', () => {
  const keeper = createKeeper<string>('kiln.test');
  later();
  keeper.write('large', 'x'.repeat(100_000));
  keeper.write('small', 'y');
  expect(keeper.read('large')).toHaveLength(100_000);
  const fresh = createKeeper<string>('kiln.test');
  expect([fresh.read('large'), fresh.read('small')]).toEqual([undefined, 'y']);
  for (const text of ['{', '{"a":1}', 'null']) {
    localStorage.setItem('kiln.test', text);
    expect(createKeeper<string>('kiln.test').read('small')).toBeUndefined();
  }
});

it('who follows drafts is told of each, until they stop', () => {
  const told: unknown[] = [];
  const stop = onDraft((...said) => void told.push(said));
  const draft = { key: 'k', values: { prompt: 'a' } };
  setDraft('image', draft);
  stop();
  setDraft('video', draft);
  expect(told).toEqual([['image', draft]]);
  expect([readDraft('image'), readDraft('video')]).toEqual([draft, draft]);
});
