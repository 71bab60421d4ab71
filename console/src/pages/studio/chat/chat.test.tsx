import { fireEvent, screen, waitFor } from '@testing-library/preact';
import { afterEach, expect, it } from 'vitest';

import {
  answer,
  asked,
  conversation,
  end,
  readInput,
  keeping,
  page,
  piece,
  reply,
  said,
  texts,
  thread,
} from '../../../testing/chats.ts';
import { outline } from '../../../testing/outline.ts';
import { sockets } from '../../../testing/socket.ts';
import { openStudio, readTexts, type } from '../../../testing/studio.ts';
import { press } from '../../../testing/use.ts';
import { closeConsole, type Fields, refusal } from '../../../testing/whole-console.tsx';
import { keptChats } from './kept-chats.ts';

afterEach(closeConsole);

it('begins with ideas, keeps the question under its first words, and shows the answer as it grows', async () => {
  const { saved, root } = keeping();
  const { address } = await openStudio('/?kind=chat', root);
  await screen.findByText('About c1');
  await expect(outline(page())).toMatchFileSnapshot('outlines/chat.txt');
  await press('Explain what a seed does, with an example');
  await waitFor(() => expect(saved).toHaveLength(1));
  await waitFor(() => expect(address()).toBe(`/?kind=chat&chat=${String(saved[0]?.['id'])}`));
  const question = (readInput(saved[0])['messages'] as readonly Fields[])[0];
  expect(readInput(saved[0])).toEqual({
    generator: 'llm',
    model: 'wise',
    system: null,
    temperature: null,
    maxTokens: null,
    options: null,
    title: 'Explain what a seed does, with an example',
    currentId: question?.['id'],
    messages: [
      {
        id: question?.['id'],
        parentId: null,
        role: 'USER',
        text: 'Explain what a seed does, with an example',
        model: null,
        mediaIds: [],
      },
    ],
  });
  await answer(piece(1, 'A **seed** '), piece(2, 'is a number.'));
  expect(asked()?.input).toEqual({
    generator: 'llm',
    model: 'wise',
    conversation: [{ role: 'USER', text: 'Explain what a seed does, with an example' }],
  });
  await waitFor(() => expect(texts().at(-1)).toContain('is a number.'));
  await waitFor(() => expect(document.querySelector('[data-markdown] strong')).not.toBeNull());
  await expect(outline(thread())).toMatchFileSnapshot('outlines/answering.txt');
  expect(keptChats().pending).toEqual([{ question: question?.['id'], answer: asked()?.idempotencyKey }]);
  const key = asked()?.idempotencyKey;
  await answer(
    piece(3, '', {
      reply: reply('A **seed** is a number!', [
        {
          id: 'm1',
          url: '/m1',
          name: 'm',
          contentType: 'image/png',
          bytes: 3,
          sha256: 's',
          width: 1,
          height: 1,
          duration: null,
        },
      ]),
    }),
  );
  await end();
  await screen.findByText('wise-2');
  await expect(outline(thread())).toMatchFileSnapshot('outlines/answered.txt');
  expect(readInput(saved[1])).toMatchObject({
    currentId: key,
    messages: [
      {
        id: key,
        parentId: question?.['id'],
        role: 'ASSISTANT',
        text: 'A **seed** is a number!',
        model: 'wise-2',
        mediaIds: ['m1'],
      },
    ],
  });
  expect([keptChats().pending, keptChats().ids]).toEqual([[], [saved[0]?.['id']]]);
});

it('goes on below what was said, with the images of before, and stops an answer', async () => {
  const { saved, root } = keeping({
    conversation: conversation('c1', { currentId: 'a1' }),
    conversationMessages: [
      said('q1', null, 'USER', { files: [{ id: 'f1', url: '/f1', contentType: 'image/png', bytes: 2 }] }),
      said('a1', 'q1', 'ASSISTANT', {
        text: '',
        files: [{ id: 'f2', url: '/f2', contentType: 'audio/wav', bytes: 2 }],
      }),
    ],
  });
  const { askedFor } = await openStudio('/?kind=chat&chat=c1', root);
  await waitFor(() => expect(readTexts('[data-said]')).toHaveLength(2));
  expect(askedFor('OneConversation')).toEqual([{ id: 'c1' }]);
  await expect(outline(thread())).toMatchFileSnapshot('outlines/kept.txt');
  type('Your message', 'more');
  await press('Send');
  await waitFor(() => expect(asked()).toBeDefined());
  expect(asked()?.input['conversation']).toEqual([
    { role: 'USER', parts: [{ text: 'text q1' }, { fileId: 'f1' }] },
    { role: 'ASSISTANT', parts: [{ fileId: 'f2' }] },
    { role: 'USER', text: 'more' },
  ]);
  expect(readTexts('[data-said]').at(-1)).toContain('Thinking');
  await answer(piece(1, 'half'));
  await waitFor(() => expect(texts().at(-1)).toContain('half'));
  const key = asked()?.idempotencyKey;
  await press('Stop');
  await waitFor(() => expect(sockets.followedWith('chatStream')).toEqual([]));
  await waitFor(() => expect(saved).toHaveLength(2));
  expect(readInput(saved[1])).toMatchObject({ currentId: key, messages: [{ id: key, text: 'half' }] });
  expect(saved.map(({ id }) => id)).toEqual(['c1', 'c1']);
});

it('keeps no answer without a word, and shows the question alone then', async () => {
  const { saved, root } = keeping();
  await openStudio('/?kind=chat', root);
  await screen.findByText('About c1');
  type('Your message', 'hot?');
  await press('Send');
  await waitFor(() => expect(asked()).toBeDefined());
  const key = asked()?.idempotencyKey;
  await end();
  await waitFor(() => expect(readTexts('[data-said]')).toHaveLength(1));
  expect([saved.length, keptChats().pending, texts().includes(String(key))]).toEqual([1, [], false]);
});

it('says why an answer failed, and asks again', async () => {
  const { root } = keeping();
  await openStudio('/?kind=chat', root);
  await screen.findByText('About c1');
  type('Your message', 'hot?');
  await press('Send');
  await answer(
    piece(1, '', { error: { code: 'MODERATION_REFUSED', message: 'no', retryable: false, field: null } }),
  );
  await expect(outline(await screen.findByRole('alert'))).toMatchFileSnapshot('outlines/failed.txt');
  const before = asked()?.idempotencyKey;
  await press('Try again');
  await waitFor(() => expect(asked()?.idempotencyKey).not.toBe(before));
  expect(screen.queryByRole('alert')).toBeNull();
  await answer(piece(1, 'yes'));
  await waitFor(() => expect(texts().at(-1)).toContain('yes'));
  await answer(piece(2, '', { error: { code: 'ODD', message: 'it broke', retryable: false, field: null } }));
  // What is there of it is kept, and there is nothing to ask again.
  expect((await screen.findByRole('alert')).textContent).toBe('it broke');
  expect(screen.queryByRole('button', { name: 'Try again' })).toBeNull();
});

it('says that a conversation can not be loaded, and that one can not be kept', async () => {
  const { root } = keeping({
    conversation: () => refusal('NOT_FOUND'),
    saveConversation: () => refusal('UNAVAILABLE'),
  });
  await openStudio('/?kind=chat&chat=c1', root);
  await screen.findByRole('alert');
  expect(screen.getByRole('log').getAttribute('aria-busy')).toBe('false');
  await closeConsole();
  await openStudio('/?kind=chat', root);
  await screen.findByText('About c1');
  type('Your message', 'hot?');
  await press('Send');
  await screen.findByRole('alert');
});

it('takes no message before the conversation is there, which is asked for again where that failed', async () => {
  const loaded = Promise.withResolvers<Fields>();
  let times = 0;
  const { root, saved } = keeping({
    conversation: () => (times++ === 0 ? refusal('UNAVAILABLE') : loaded.promise),
    conversationMessages: [said('q1', null, 'USER'), said('a1', 'q1', 'ASSISTANT')],
  });
  await openStudio('/?kind=chat&chat=c1', root);
  await screen.findByRole('alert');
  type('Your message', 'more');
  const send = () => screen.getByRole<HTMLButtonElement>('button', { name: 'Send' }).disabled;
  expect([send(), screen.queryByText('Ask something')]).toEqual([true, null]);
  await press('Try again');
  await waitFor(() => expect([screen.queryByRole('alert'), send()]).toEqual([null, true]));
  loaded.resolve(conversation('c1', { currentId: 'a1' }));
  await waitFor(() => expect(texts()).toHaveLength(2));
  await press('Send');
  await waitFor(() => expect(saved).toHaveLength(1));
  expect(readInput(saved[0])).toMatchObject({ title: 'About c1', messages: [{ parentId: 'a1' }] });
});

it('does not lead back to a conversation that is kept once somebody has gone elsewhere', async () => {
  const kept = Promise.withResolvers<Fields>();
  const { root } = keeping({
    saveConversation: () => kept.promise,
    conversation: conversation('c1'),
    conversations: () => [conversation('c1', { title: isKept ? 'Later' : 'Sooner' })],
  });
  let isKept = false;
  const { address } = await openStudio('/?kind=chat', root);
  await screen.findByText('Sooner');
  type('Your message', 'hot?');
  await press('Send');
  await waitFor(() => expect(asked()).toBeDefined());
  await press(/^Sooner/);
  await waitFor(() => expect(thread()?.getAttribute('aria-label')).toBe('About c1'));
  isKept = true;
  kept.resolve(conversation('new'));
  await screen.findByText('Later');
  expect(address()).toContain('chat=c1');
});

it('goes on with an answer that was being made when the page was left, under its key', async () => {
  const kept: Fields[] = [];
  const { root } = keeping({
    conversations: () => kept,
    conversation: () => kept[0],
    conversationMessages: () => [said(String(kept[0]?.['currentId']), null, 'USER')],
  });
  const { address } = await openStudio('/?kind=chat', root);
  await screen.findByText('Your conversations will be listed here.');
  type('Your message', 'hot?');
  await press('Send');
  await waitFor(() => expect(address()).toContain('&chat='));
  await waitFor(() => expect(asked()).toBeDefined());
  const [pending] = keptChats().pending;
  kept.push(conversation(address().split('chat=')[1] ?? '', { currentId: pending?.question }));
  fireEvent.click(screen.getByRole('tab', { name: 'Image' }));
  await waitFor(() => expect(sockets.followedWith('chatStream')).toEqual([]));
  expect(keptChats().pending).toEqual([pending]);
  fireEvent.click(screen.getByRole('tab', { name: 'Chat' }));
  fireEvent.click(await screen.findByRole('link', { name: /^About/ }));
  await waitFor(() => expect(asked()?.idempotencyKey).toBe(pending?.answer));
});
