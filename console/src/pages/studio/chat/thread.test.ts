import { describe, expect, it, vi } from 'vitest';

import type { StoredFile } from '../../../api/kiln.ts';
import {
  createThread,
  NOTHING,
  type Piece,
  type Settings,
  type ThreadParts,
  type ThreadState,
} from './thread.ts';
import { branchTo, type Message } from './tree.ts';

const settings: Settings = {
  generator: 'llm',
  model: 'm-1',
  system: null,
  temperature: null,
  maxTokens: null,
  options: null,
};
const piece = (seq: number, delta: string, whole: Piece['whole'] = null): Piece => ({
  seq,
  delta,
  whole,
  error: null,
});

/** A conversation over a server that says what the test has it say. */
function opened(over: Partial<ThreadParts> = {}) {
  let state: ThreadState = NOTHING;
  const requests: { key: string; texts: string[]; listener: Parameters<ThreadParts['stream']>[2] }[] = [];
  const saved: Message[] = [];
  const pending = new Map<string, string>();
  const unsubscribe = vi.fn<() => void>();
  const thread = createThread({
    load: () => Promise.reject(new Error('nothing is kept')),
    save: async (_, __, messages) => void saved.push(...messages),
    stream(key, { branch }, listener) {
      requests.push({ key, texts: branch.map(({ text }) => text), listener });
      return unsubscribe;
    },
    pending: {
      note: (question, answer) => pending.set(question, answer),
      end: (answer) => [...pending].forEach(([key, value]) => value === answer && pending.delete(key)),
      of: (question) => pending.get(question),
    },
    settings: () => settings,
    makeTitle: (text) => text,
    onChange: (next) => (state = next),
    onLoaded: () => undefined,
    ...over,
  });
  const shown = () => branchTo(state.messages, state.currentId).map(({ text }) => text);
  const last = () => {
    const request = requests.at(-1);
    if (request === undefined) throw new Error('nothing was asked');
    return request;
  };
  return { thread, requests, saved, pending, unsubscribe, shown, last, state: () => state };
}

describe('a conversation', () => {
  it('grows by pieces in any order, and keeps the question before its answer', async () => {
    const { thread, last, shown, saved, pending, state } = opened();
    thread.say('hot?', [], null);
    expect(saved.map(({ text }) => text)).toEqual(['hot?']);
    last().listener.piece(piece(2, 'hot'));
    last().listener.piece(piece(1, 'very '));
    expect(shown()).toEqual(['hot?', 'very hot']);
    expect(pending.size).toBe(1);
    last().listener.piece(piece(3, '', { text: 'Very hot.', files: [], model: 'm-2' }));
    last().listener.ended();
    expect(saved.at(-1)).toMatchObject({ id: last().key, text: 'Very hot.', model: 'm-2' });
    expect(pending.size).toBe(0);
    expect(state()).toMatchObject({ title: 'hot?', answering: null, problem: null });
  });

  it('answers again and asks anew as branches: each is sent with its own way alone', () => {
    const { thread, last, shown, state } = opened();
    thread.say('one', [], null);
    last().listener.piece(piece(1, 'first', { text: 'first', files: [], model: 'm' }));
    last().listener.ended();
    const [question] = state().messages;
    if (question === undefined) throw new Error('no question');
    thread.answer(question);
    expect(last().texts).toEqual(['one']);
    last().listener.piece(piece(1, 'second', { text: 'second', files: [], model: 'm' }));
    last().listener.ended();
    expect(shown()).toEqual(['one', 'second']);
    thread.say('uno', [], null);
    expect(last().texts).toEqual(['uno']);
    thread.stop();
    thread.show(question);
    expect(shown()).toEqual(['one', 'second']);
  });

  it('keeps what was said until it was stopped, and takes an answer without a word out again', () => {
    const { thread, last, shown, saved, unsubscribe, state } = opened();
    thread.say('one', [], null);
    thread.stop();
    expect(shown()).toEqual(['one']);
    expect(unsubscribe).toHaveBeenCalledOnce();
    thread.say('two', [], state().currentId);
    last().listener.piece(piece(1, 'half'));
    thread.stop();
    expect(saved.at(-1)?.text).toBe('half');
    thread.say('three', [], state().currentId);
    last().listener.failed(new Error('away'));
    expect(state()).toMatchObject({ problem: new Error('away'), answering: null });
    expect(shown()).toEqual(['one', 'two', 'half', 'three']);
  });

  it('keeps an answer that is an image without a word, and sends it with what is asked next', () => {
    const { thread, last, saved, shown, requests, state } = opened();
    const image = { id: 'med_1', url: '/files/med_1/a.png', contentType: 'image/png' } as StoredFile;
    thread.say('a fox', [], null);
    last().listener.piece(piece(1, '', { text: '', files: [image], model: 'm' }));
    last().listener.ended();
    expect(saved.at(-1)).toMatchObject({ role: 'ASSISTANT', text: '', files: [image] });
    thread.say('redder', [], state().currentId);
    expect(shown()).toEqual(['a fox', '', 'redder', '']);
    expect(requests.at(-1)?.texts).toEqual(['a fox', '', 'redder']);
  });

  it('saves what could not be saved with what is said next, which belongs below it', async () => {
    let isAway = true;
    const kept: (readonly string[])[] = [];
    const { thread, last, state } = opened({
      async save(_, __, messages) {
        if (isAway) throw new Error('away');
        kept.push(messages.map(({ text }) => text));
      },
    });
    thread.say('one', [], null);
    await expect.poll(() => state().problem).toEqual(new Error('away'));
    isAway = false;
    last().listener.piece(piece(1, 'first', { text: 'first', files: [], model: 'm' }));
    last().listener.ended();
    await expect.poll(() => kept).toEqual([['one', 'first']]);
    thread.say('two', [], state().currentId);
    expect(kept.at(-1)).toEqual(['two']);
  });

  it('goes on with the answer that was being made when the page was left, under its key', async () => {
    const question: Message = { id: 'q', parentId: null, role: 'USER', text: 'hi', files: [], model: null };
    const load = async () => ({ title: 'Hi', messages: [question], currentId: 'q', settings });
    const { thread, last, pending, requests } = opened({ load });
    pending.set('q', 'key-of-before');
    await thread.load();
    expect(last().key).toBe('key-of-before');
    thread.leave();
    expect(requests).toHaveLength(1);
    expect(pending.get('q')).toBe('key-of-before');
  });
});
