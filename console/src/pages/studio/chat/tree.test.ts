import { describe, expect, it } from 'vitest';

import {
  branchesAt,
  branchTo,
  endBelow,
  toFileName,
  writeMarkdown,
  type Message,
  makeTitle,
  withMessage,
  withoutOldImages,
} from './tree.ts';

const say = (id: string, parentId: string | null, role: Message['role'], text = id): Message => ({
  id,
  parentId,
  role,
  text,
  files: [],
  model: role === 'ASSISTANT' ? 'm-1' : null,
});
const messages = [
  say('q1', null, 'USER'),
  say('a1', 'q1', 'ASSISTANT'),
  say('a2', 'q1', 'ASSISTANT'),
  say('q2', 'a2', 'USER'),
  say('a3', 'q2', 'ASSISTANT'),
];
const ids = (list: readonly Message[]) => list.map(({ id }) => id);

describe('a conversation as a tree', () => {
  it('shows the branch down to a message, and no message twice where a parent is its own', () => {
    expect(ids(branchTo(messages, 'a3'))).toEqual(['q1', 'a2', 'q2', 'a3']);
    expect(ids(branchTo(messages, 'a1'))).toEqual(['q1', 'a1']);
    expect(branchTo(messages, null)).toEqual([]);
    expect(ids(branchTo([say('x', 'x', 'USER')], 'x'))).toEqual(['x']);
  });

  it('is sent with the newest images that were made, as many as there is room for, and all that were attached', () => {
    const file = (id: string, bytes: number) => ({
      id,
      url: `/files/${id}`,
      contentType: 'image/png',
      bytes,
    });
    const branch: readonly Message[] = [
      { ...say('q1', null, 'USER'), files: [file('own', 4)] },
      { ...say('a1', 'q1', 'ASSISTANT', ''), files: [file('old', 3)] },
      { ...say('q2', 'a1', 'USER') },
      { ...say('a2', 'q2', 'ASSISTANT', 'redder'), files: [file('large', 5), file('small', 2)] },
      { ...say('q3', 'a2', 'USER') },
    ];
    const sent = (most: number) =>
      withoutOldImages(branch, most).map(({ id, files }) => [id, ...files.map((one) => one.id)].join(' '));
    expect(sent(14)).toEqual(['q1 own', 'a1 old', 'q2', 'a2 large small', 'q3']);
    expect(sent(13)).toEqual(['q1 own', 'q2', 'a2 large small', 'q3']);
    expect(sent(3)).toEqual(['q1 own', 'q2', 'a2', 'q3']);
  });

  it('tells the branches at a message, and goes down the newest one', () => {
    expect(ids(branchesAt(messages, say('a1', 'q1', 'ASSISTANT')))).toEqual(['a1', 'a2']);
    expect(endBelow(messages, 'a2')).toBe('a3');
    expect(endBelow(messages, 'a1')).toBe('a1');
  });

  it('puts a longer answer in the place of a shorter one', () => {
    const longer = withMessage(messages, say('a3', 'q2', 'ASSISTANT', 'more'));
    expect(longer).toHaveLength(5);
    expect(longer.at(-1)?.text).toBe('more');
    expect(withMessage(messages, say('q3', 'a3', 'USER'))).toHaveLength(6);
  });

  it('names a conversation after its first words', () => {
    expect(makeTitle('  how  hot\nis a kiln? ', 'New')).toBe('how hot is a kiln?');
    expect(makeTitle('word '.repeat(20), 'New')).toBe(`${'word '.repeat(11)}word…`);
    expect(makeTitle('字'.repeat(80), 'New')).toBe(`${'字'.repeat(60)}…`);
    expect(makeTitle(' ', 'New')).toBe('New');
  });

  it('exports a branch as Markdown, under a name that every system takes', () => {
    const file = { id: 'f', url: 'https://k.example/f.png', contentType: 'image/png', bytes: 1 };
    const branch = [
      { ...say('q1', null, 'USER', 'Look'), files: [file] },
      say('a1', 'q1', 'ASSISTANT', 'Yes'),
    ];
    expect(writeMarkdown('Kilns', branch, { USER: 'You', ASSISTANT: 'Model' })).toBe(
      '# Kilns\n\n## You\n\nLook\n\n- [image/png](https://k.example/f.png)\n\n## Model (m-1)\n\nYes\n',
    );
    expect(toFileName('a/b: "c"?')).toBe('a-b-c');
    expect(toFileName('???')).toBe('chat');
  });
});
