import { act, fireEvent, screen, waitFor, within } from '@testing-library/preact';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import {
  answer,
  asked,
  chatModel,
  conversation,
  end,
  readInput,
  keeping,
  page,
  piece,
  said,
  texts,
} from '../../../testing/chats.ts';
import { outline } from '../../../testing/outline.ts';
import { aModel, openStudio, readTexts, type } from '../../../testing/studio.ts';
import { choose, press } from '../../../testing/use.ts';
import { closeConsole } from '../../../testing/whole-console.tsx';
import { readDraft } from '../../../work/keeper.ts';
import { keptChats } from './kept-chats.ts';

afterEach(closeConsole);

/** Whose size is observed, with what is called when it grows. */
const observed = new Map<object, { readonly element: Element; readonly call: () => void }>();
beforeEach(() => {
  observed.clear();
  vi.stubGlobal(
    'ResizeObserver',
    class {
      readonly #call: () => void;
      constructor(call: () => void) {
        this.#call = call;
      }
      observe(element: Element): void {
        observed.set(this, { element, call: this.#call });
      }
      disconnect(): void {
        observed.delete(this);
      }
    },
  );
});

const branches = {
  conversation: conversation('c1', {
    currentId: 'a2',
    model: 'plain',
    system: 'short',
    temperature: 0.5,
    maxTokens: 9,
    options: { effort: 'high' },
  }),
  conversationMessages: [
    said('q1', null, 'USER'),
    said('a1', 'q1', 'ASSISTANT'),
    said('a2', 'q1', 'ASSISTANT', { model: null }),
  ],
};

it('leafs through branches, answers anew, edits a question, and makes an image of an answer', async () => {
  const { saved, root } = keeping(branches);
  const { address } = await openStudio('/?kind=chat&chat=c1', root);
  await waitFor(() => expect(readTexts('[data-said]')).toHaveLength(2));
  // What was kept with it is what is sent from the next turn on.
  await act(async () => undefined);
  await press('Previous version');
  await waitFor(() => expect(texts().at(-1)).toContain('text a1'));
  await waitFor(() => expect(saved).toHaveLength(1));
  expect(readInput(saved[0])).toMatchObject({
    title: 'About c1',
    currentId: 'a1',
    messages: [],
    system: null,
    temperature: null,
    maxTokens: null,
  });
  await press('Answer again');
  await waitFor(() => expect(readTexts('[data-branches]')).toEqual([]));
  await answer(piece(1, 'a third'));
  await end();
  await waitFor(() => expect(readTexts('[data-branches]')).toEqual(['3 of 3']));
  await press('Edit');
  const area = await screen.findByLabelText<HTMLTextAreaElement>('Edit');
  await expect(outline(area.parentElement)).toMatchFileSnapshot('outlines/edit.txt');
  fireEvent.input(area, { target: { value: ' ' } });
  fireEvent.keyDown(area, { key: 'Enter' });
  fireEvent.input(area, { target: { value: 'cold?' } });
  expect(fireEvent.keyDown(area, { key: 'Enter', isComposing: true })).toBe(true);
  expect(fireEvent.keyDown(area, { key: 'Enter', shiftKey: true })).toBe(true);
  expect(screen.queryByLabelText('Edit')).not.toBeNull();
  expect(fireEvent.keyDown(area, { key: 'Enter' })).toBe(false);
  await answer(piece(1, 'no'));
  await end();
  await waitFor(() => expect(texts()[0]).toContain('cold?'));
  await press('Edit');
  await press('Keep as it was');
  expect(screen.queryByRole('textbox', { name: 'Edit' })).toBeNull();
  await press('Make an image of this');
  await waitFor(() => expect(address()).toBe('/?kind=image'));
  expect(readDraft('image')).toEqual({ key: '', values: { prompt: 'no' } });
});

it('takes over what was kept with a conversation, and sends what its model takes of the settings', async () => {
  const { root } = keeping(branches);
  await openStudio('/?kind=chat&chat=c1', root);
  await waitFor(() => expect(readTexts('[data-said]')).toHaveLength(2));
  const model = () => screen.getByLabelText<HTMLSelectElement>('Model');
  await waitFor(() => expect(model().value).toBe('llm plain'));
  await press('Settings');
  const drawer = await screen.findByRole('dialog', { name: 'Settings' });
  expect(drawer.querySelectorAll('input, textarea')).toHaveLength(0);
  fireEvent(drawer, new Event('close'));
  await waitFor(() => expect(screen.queryByRole('dialog')).toBeNull());
  await choose('Model', 'llm wise');
  await press('Settings');
  await expect(outline(await screen.findByRole('dialog'))).toMatchFileSnapshot('outlines/settings.txt');
  type(/^Instructions/, 'long');
  type(/^Temperature/, '1.5');
  type(/^Longest answer/, '20');
  fireEvent(screen.getByRole('dialog'), new Event('close'));
  type('Your message', 'go on');
  await press('Send');
  await waitFor(() => expect(asked()).toBeDefined());
  const { conversation: _, ...sent } = asked()?.input ?? {};
  expect(sent).toEqual({
    generator: 'llm',
    model: 'wise',
    system: 'long',
    temperature: 1.5,
    maxTokens: 20,
    options: { effort: 'high' },
  });
  expect(keptChats()).toMatchObject({ key: 'llm wise', system: 'long', temperature: '1.5', maxTokens: '20' });
});

it('sends no settings that are empty, and keeps its own where nothing was kept', async () => {
  const { saved, root } = keeping({
    conversation: conversation('c1', { model: 'gone' }),
    conversationMessages: [said('q1', null, 'USER'), said('q2', 'q1', 'USER')],
  });
  await openStudio('/?kind=chat&chat=c1', root);
  // Without a place of its own it is at its last message.
  await waitFor(() => expect(readTexts('[data-said]')).toHaveLength(2));
  await press('Settings');
  type(/^Instructions/, '  ');
  type(/^Temperature/, '1');
  type(/^Temperature/, '');
  type('Your message', 'go on');
  await press('Send');
  await waitFor(() => expect(saved).toHaveLength(1));
  expect(readInput(saved[0])).toMatchObject({
    model: 'wise',
    system: null,
    temperature: null,
    maxTokens: null,
    options: null,
  });
});

it('stays at the end of a growing answer while that is in sight', async () => {
  const { root } = keeping(branches);
  await openStudio('/?kind=chat&chat=c1', root);
  await waitFor(() => expect(readTexts('[data-said]')).toHaveLength(2));
  const log = screen.getByRole('log');
  Object.defineProperties(log, {
    scrollHeight: { value: 1_000, configurable: true },
    clientHeight: { value: 100, configurable: true },
    scrollTop: { value: 0, writable: true },
  });
  const own = () => [...observed.values()].filter(({ element }) => element === log.firstElementChild);
  const grow = () => own().forEach(({ call }) => call());
  grow();
  expect(log.scrollTop).toBe(1_000);
  log.scrollTop = 780;
  fireEvent.scroll(log);
  grow();
  expect(log.scrollTop).toBe(780);
  log.scrollTop = 781;
  fireEvent.scroll(log);
  grow();
  expect(log.scrollTop).toBe(1_000);
});

it('says that no model chats', async () => {
  await openStudio('/?kind=chat', {
    models: [aModel('draws'), chatModel('ended', { retiresAt: '2026-01-01' })],
  });
  await screen.findByText('No model for this yet');
  expect(within(page() as HTMLElement).queryByRole('log')).toBeNull();
});
