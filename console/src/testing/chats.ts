import { act, waitFor } from '@testing-library/preact';
import { expect } from 'vitest';

import { sockets } from './socket.ts';
import { aModel, collects, readTexts } from './studio.ts';
import { ago } from './things.ts';
import type { Fields } from './whole-console.tsx';

/** Conversations with language models, for tests. */

/** A model that chats. */
export const chatModel = (id: string, change: Fields = {}) =>
  aModel(id, {
    kinds: ['CHAT'],
    generator: 'llm',
    inputs: ['system', 'temperature', 'maxTokens', 'image', 'video'],
    ...change,
  });
/** One that has ended, one with settings, one that takes none. */
const models = [
  chatModel('ended', { retiresAt: '2026-01-01' }),
  chatModel('wise', { optionsSchema: { properties: { effort: { type: 'string', enum: ['low', 'high'] } } } }),
  chatModel('plain', { inputs: [] }),
  aModel('draws'),
];
/** A conversation that is kept. */
export const conversation = (id: string, change: Fields = {}) => ({
  id,
  title: `About ${id}`,
  generator: 'llm',
  model: 'wise',
  system: null,
  temperature: null,
  maxTokens: null,
  options: null,
  currentId: null,
  revision: `r-${id}`,
  updatedAt: ago(60),
  ...change,
});
/** A message of it. */
export const said = (id: string, parentId: string | null, role: string, change: Fields = {}) => ({
  id,
  parentId,
  role,
  text: `text ${id}`,
  model: role === 'USER' ? null : 'wise',
  files: [],
  createdAt: ago(50),
  ...change,
});
/** What the tab shows. */
export const page = () => document.querySelector('#studio-work');
/** The conversation that is open. */
export const thread = () => document.querySelector('section[aria-label]');
/** What was said. */
export const texts = () => readTexts('[data-said]').map((text) => text.replace(/^(You|Model)/, ''));
/** A server that keeps conversations; `saved` are the inputs. */
export function keeping(root: Fields = {}) {
  const { given: saved, field: saveConversation } = collects(() => conversation('new'));
  return {
    saved,
    root: { models, saveConversation, conversations: [conversation('c1'), conversation('c2')], ...root },
  };
}
/** The input of a mutation. */
export const readInput = (one: Fields | undefined) => one?.['input'] as Fields;
/** What the answer that is waited for was asked with. */
export const asked = () =>
  sockets.followedWith('chatStream')[0] as
    | { readonly input: Fields; readonly idempotencyKey: string }
    | undefined;
/** A piece of an answer. */
export const piece = (seq: number, delta: string, change: Fields = {}) => ({
  seq,
  index: 0,
  delta,
  reply: null,
  error: null,
  ...change,
});
/** All of an answer. */
export const reply = (text: string, media: readonly Fields[] = []) => ({
  text,
  toolCalls: [],
  media,
  model: 'wise-2',
  provider: 'p',
  usage: null,
});
/** Sends pieces of the answer that is waited for. */
export async function answer(...pieces: readonly Fields[]): Promise<void> {
  await waitFor(() => expect(asked()).toBeDefined());
  for (const one of pieces) sockets.push('chatStream', one);
}
/** The answer has ended. */
export const end = () => act(async () => sockets.end('chatStream'));
