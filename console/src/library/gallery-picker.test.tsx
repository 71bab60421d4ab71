import { ApolloProvider } from '@apollo/client/react';
import { fireEvent, render, waitFor } from '@testing-library/preact';
import { afterEach, expect, it } from 'vitest';

import { client } from '../api/client.ts';
import type { StoredFile } from '../api/kiln.ts';
import { outline } from '../testing/outline.ts';
import { createFile, createList } from '../testing/things.ts';
import { all, find, gone, press, shown } from '../testing/use.ts';
import { closeConsole, type Fields, openConsole, refusal } from '../testing/whole-console.tsx';
import { FileField } from './file-field.tsx';

afterEach(closeConsole);

const FILES = [
  createFile('one'),
  createFile('film', { contentType: 'video/mp4' }),
  createFile('pdf', { contentType: 'application/pdf' }),
];

/** A field over a console that is open, as its server answers. */
async function open(accept: string, root: Fields = {}) {
  const opened = await openConsole('/tasks', { tasks: createList([]), medias: createList(FILES), ...root });
  const chosen: StoredFile[] = [];
  const field = render(
    <ApolloProvider client={client}>
      <FileField
        label="Images"
        accept={accept}
        most={2}
        files={[]}
        onChange={(files) => chosen.push(...files)}
      />
    </ApolloProvider>,
  );
  await press('From the gallery', field.container);
  return { ...opened, chosen };
}
const picks = () =>
  all('[data-picks] button', /./).length + document.querySelectorAll('[data-picks] img').length;

it('offers the files of the gallery that fit, and takes one', async () => {
  const { askedFor, chosen } = await open('image/*,audio/*,application/pdf');
  await shown('[data-picks] img');
  await expect(outline(await shown('dialog'))).toMatchFileSnapshot('outlines/picker.txt');
  expect(askedFor('Gallery')).toEqual([{ filter: { kinds: ['IMAGE', 'AUDIO'] }, first: 200, after: null }]);
  fireEvent.click(document.querySelector('[data-picks] button') as HTMLElement);
  await gone('dialog');
  expect(chosen).toEqual([
    { id: 'one', url: 'https://kiln.test/files/one', contentType: 'image/png', bytes: 2_048 },
  ]);
});

it('says that it is loading, that nothing fits, and closes', async () => {
  let answer: (list: Fields) => void = () => undefined;
  const { hasAsked } = await open('audio/*', { medias: () => new Promise((resolve) => (answer = resolve)) });
  await hasAsked('Gallery');
  await waitFor(async () => expect((await shown('dialog')).textContent).toContain('Loading'));
  expect(all('dialog h2', 'Nothing in the gallery fits here yet')).toEqual([]);
  answer(createList(FILES));
  await find('dialog h2', 'Nothing in the gallery fits here yet');
  expect((await shown('dialog')).textContent).not.toContain('Loading');
  expect(picks()).toBe(0);
  await press('Close', await shown('dialog'));
  await gone('dialog');
});

it('says what has gone wrong', async () => {
  await open('image/*', {
    medias: () => {
      throw refusal('RATE_LIMITED');
    },
  });
  expect((await shown('dialog [role=alert]')).textContent).not.toBe('');
});
