import { fireEvent, waitFor } from '@testing-library/preact';
import { afterEach, expect, it } from 'vitest';

import { outline } from '../../testing/outline.ts';
import { createFile, createList, createModel, createTask } from '../../testing/things.ts';
import { all, find, press, shown } from '../../testing/use.ts';
import { closeConsole, openConsole } from '../../testing/whole-console.tsx';
import { readDraft } from '../../work/keeper.ts';

afterEach(closeConsole);

const root = {
  medias: createList([createFile('one')]),
  task: createTask('task-one'),
  models: [
    createModel({ inputs: ['prompt', 'images', 'mask'] }),
    createModel({ id: 'film', model: 'film', kinds: ['VIDEO'], inputs: ['prompt', 'firstFrame'] }),
  ],
};

it('takes a file into a place of a form that takes such a file', async () => {
  const { address } = await openConsole('/gallery?open=one', root);
  const button = await find('aside button', 'Use as');
  fireEvent.focus(button);
  fireEvent.pointerEnter(button);
  fireEvent.click(button);
  const places = async () => all('[data-command]', /./).map(({ textContent }) => textContent);
  await shown('[data-command]');
  await expect(outline((await shown('[data-command]')).parentElement)).toMatchFileSnapshot(
    'outlines/places.txt',
  );
  expect(all('aside button', 'Use as')[0]?.getAttribute('aria-expanded')).toBe('true');
  expect((await places()).length).toBe(2);
  all('[data-command]', /./).at(-1)?.click();
  await waitFor(() => expect(address()).toMatch(/^\/\?kind=/));
  const kind = address().split('=')[1] as 'video';
  expect(JSON.stringify(readDraft(kind)?.values)).toContain('"id":"one"');
});

it('closes where its button is pressed again, or Escape', async () => {
  await openConsole('/gallery?open=one', root);
  await press('Use as', await shown('aside'));
  await shown('[data-command]');
  fireEvent.click(all('aside button', 'Use as')[0] as HTMLElement);
  await waitFor(() => expect(all('aside button', 'Use as')[0]?.getAttribute('aria-expanded')).toBe('false'));
});
