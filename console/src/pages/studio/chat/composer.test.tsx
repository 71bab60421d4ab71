import { fireEvent, render, screen } from '@testing-library/preact';
import userEvent from '@testing-library/user-event';
import { expect, it, vi } from 'vitest';

import type { StoredFile } from '../../../api/kiln.ts';
import { Composer } from './composer.tsx';
import { MessageView } from './message.tsx';
import type { Message } from './tree.ts';
import type { OpenThread } from './use-thread.ts';

function compose({ accept = '', isAnswering = false } = {}) {
  const onSend = vi.fn<(text: string, files: readonly StoredFile[]) => void>();
  const onStop = vi.fn<() => void>();
  render(
    <Composer accept={accept} isAnswering={isAnswering} isWaiting={false} onSend={onSend} onStop={onStop} />,
  );
  const area = screen.getByLabelText<HTMLTextAreaElement>('Your message');
  const say = (value: string) => fireEvent.input(area, { target: { value } });
  const button = (name: string) => screen.queryByRole<HTMLButtonElement>('button', { name });
  return { onSend, onStop, area, say, button };
}

it('a message is sent by Enter without the spaces around it, and the field is empty then', () => {
  const { onSend, area, say, button } = compose();
  expect(button('Send')?.disabled).toBe(true);
  expect(screen.queryByRole('progressbar')).toBeNull();
  expect(button('Add files')).toBeNull();
  say('  ');
  fireEvent.keyDown(area, { key: 'Enter' });
  say(' hot? ');
  expect(button('Send')?.disabled).toBe(false);
  fireEvent.keyDown(area, { key: 'Enter', shiftKey: true });
  fireEvent.keyDown(area, { key: 'a' });
  expect(onSend).not.toHaveBeenCalled();
  fireEvent.keyDown(area, { key: 'Enter' });
  expect(onSend.mock.calls).toEqual([['hot?', []]]);
  expect(area.value).toBe('');
});

it('while an answer comes it can be stopped, and nothing else is sent', () => {
  const { onSend, onStop, area, say, button } = compose({ isAnswering: true });
  say('more');
  fireEvent.keyDown(area, { key: 'Enter' });
  expect([onSend.mock.calls, button('Send')]).toEqual([[], null]);
  const stop = button('Stop');
  expect(stop?.disabled).toBe(false);
  if (stop !== null) fireEvent.click(stop);
  expect(onStop).toHaveBeenCalledOnce();
  say('');
});

it('files that can not be taken are refused in words, and nothing is attached', async () => {
  const { button } = compose({ accept: 'image/*' });
  expect(button('Add files')).not.toBeNull();
  const input = document.querySelector<HTMLInputElement>('input[type=file]');
  if (input === null) throw new Error('files can be chosen');
  expect(input.accept).toBe('image/*');
  await userEvent.upload(input, new File([], 'empty.png', { type: 'image/png' }));
  expect((await screen.findByRole('alert')).textContent).toContain('empty.png');
  expect(button('Remove the file')).toBeNull();
});

const question: Message = { id: 'q', parentId: null, role: 'USER', text: 'hot?', files: [], model: null };
const answers: readonly Message[] = ['a1', 'a2'].map((id) => ({
  id,
  parentId: 'q',
  role: 'ASSISTANT',
  text: `Answer ${id}`,
  files: [],
  model: id === 'a1' ? 'm-1' : null,
}));

function showMessage(message: Message, isGrowing = false, answering: string | null = null) {
  const show = vi.fn<(message: Message) => void>();
  const answer = vi.fn<(message: Message) => void>();
  const say = vi.fn<(...words: unknown[]) => void>();
  const thread = { messages: [question, ...answers], answering, show, answer, say } as unknown as OpenThread;
  // Without a router, which says so: no message leads anywhere in these tests.
  vi.spyOn(console, 'warn').mockReturnValue(undefined);
  render(<MessageView message={message} thread={thread} isGrowing={isGrowing} />);
  return { show, answer, say };
}
const button = (name: string) => screen.queryByRole<HTMLButtonElement>('button', { name });
const press = (name: string) => {
  const found = button(name);
  if (found === null) throw new Error(`there is no ${name}`);
  fireEvent.click(found);
};

it('an answer names its model, can be made again, and is leafed through beside others', async () => {
  const [first] = answers;
  if (first === undefined) throw new Error('there are two');
  const { show, answer } = showMessage(first);
  expect(await screen.findByText('Answer a1')).toBeDefined();
  expect(screen.getByText('m-1')).toBeDefined();
  expect(screen.getByText('1 of 2')).toBeDefined();
  expect([button('Previous version')?.disabled, button('Next version')?.disabled]).toEqual([true, false]);
  press('Next version');
  expect(show.mock.calls).toEqual([[answers[1]]]);
  press('Answer again');
  expect(answer.mock.calls).toEqual([[question]]);
  expect(button('Edit')).toBeNull();
});

it('an answer that begins says that it is thought about, and offers nothing yet', () => {
  const empty: Message = { ...question, id: 'new', role: 'ASSISTANT', parentId: 'q' };
  showMessage({ ...empty, text: '' }, true);
  expect(screen.getByText('Thinking')).toBeDefined();
  expect(screen.queryAllByRole('button')).toEqual([]);
});

it('a question is edited in its place, and left as it was', () => {
  const { say } = showMessage(question);
  expect(button('Answer again')).toBeNull();
  press('Edit');
  const area = screen.getByLabelText('Edit');
  fireEvent.keyDown(area, { key: 'Escape' });
  expect(screen.queryByRole('textbox')).toBeNull();
  press('Edit');
  fireEvent.input(screen.getByLabelText('Edit'), { target: { value: 'cold?' } });
  fireEvent.keyDown(screen.getByLabelText('Edit'), { key: 'Enter', shiftKey: true });
  expect(say).not.toHaveBeenCalled();
  press('Send');
  expect(say.mock.calls).toEqual([['cold?', [], null]]);
  expect(screen.queryByRole('textbox')).toBeNull();
});

it('nothing is asked anew while an answer comes', () => {
  const [, second] = answers;
  if (second === undefined) throw new Error('there are two');
  const { answer } = showMessage(second, false, 'a3');
  const names = ['Answer again', 'Previous version', 'Next version'];
  expect(names.map((name) => button(name)?.disabled)).toEqual([true, true, true]);
  expect(screen.queryByText('m-1')).toBeNull();
  expect(answer).not.toHaveBeenCalled();
});
