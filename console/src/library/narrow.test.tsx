import { waitFor } from '@testing-library/preact';
import { afterEach, expect, it } from 'vitest';

import { outline } from '../testing/outline.ts';
import { afterPause } from '../testing/studio.ts';
import { createList, createModel } from '../testing/things.ts';
import { all, choose, find, press, shown, submit, write } from '../testing/use.ts';
import { ADMINISTRATOR, closeConsole, type Fields, openConsole } from '../testing/whole-console.tsx';

afterEach(closeConsole);

const people = createList([
  { id: 'usr_b', name: 'Ben', email: 'ben@example.org', subject: 's-b' },
  { id: 'usr_c', name: null, email: 'cleo@example.org', subject: 's-c' },
  { id: 'usr_d', name: null, email: null, subject: 's-d' },
]);
const models = [
  createModel(),
  createModel({ id: 'lakes small', model: 'small' }),
  createModel({ id: 'seas deep', model: 'deep', generator: 'seas' }),
];
const open = async (address: string, root: Fields = {}) => {
  const opened = await openConsole(address, { tasks: createList([]), models, users: people, ...root });
  await press(/^More filters/);
  await find('select', 'Generator');
  const isAt = (filters: object) =>
    waitFor(() =>
      expect(Object.fromEntries(new URLSearchParams(opened.address().split('?')[1]))).toEqual(filters),
    );
  return { ...opened, isAt };
};
const options = (name: string) =>
  [...(all('select', name)[0]?.querySelectorAll('option') ?? [])].map(({ textContent }) => textContent);
const menu = () => shown('[role=dialog]');

it('offers generators, the models of the chosen one and days, and for administrators whose', async () => {
  const { isAt } = await open('/tasks?model=gone', ADMINISTRATOR);
  await waitFor(() => expect(options('Generator')).toEqual(['Any', 'lakes', 'seas']));
  expect(options('Model')).toEqual(['Any', 'deep', 'gone', 'large', 'small']);
  await find('input', 'Owner');
  await waitFor(() => expect(document.querySelectorAll('datalist option')).toHaveLength(3));
  await expect(outline(await menu())).toMatchFileSnapshot('outlines/narrow.txt');
  await choose('Generator', 'lakes');
  await isAt({ model: 'gone', generator: 'lakes' });
  await waitFor(() => expect(options('Model')).toEqual(['Any', 'gone', 'large', 'small']));
  await choose('Model', 'small');
  await isAt({ model: 'small', generator: 'lakes' });
  await find('main button', /small/);
  await choose('Generator', '');
  await isAt({ model: 'small' });
  await waitFor(() => expect(all('main button', /lakes/)).toEqual([]));
  await choose('Model', '');
  await isAt({});
});

it('bounds the days by each other', async () => {
  const { isAt } = await open('/tasks');
  await write('From', '2026-08-01');
  await isAt({ from: '2026-08-01' });
  await waitFor(() => expect(all('input', 'To')[0]?.getAttribute('min')).toBe('2026-08-01'));
  await write('To', '2026-08-09');
  await isAt({ from: '2026-08-01', to: '2026-08-09' });
  await waitFor(() => expect(all('input', 'From')[0]?.getAttribute('max')).toBe('2026-08-09'));
  expect(all('input', 'Owner')).toEqual([]);
});

it('says by how many a list is narrowed, each of which is taken away', async () => {
  const { isAt } = await open('/tasks?generator=lakes&model=large&from=2026-08-01&find=fox');
  expect(all('button', /^More filters/)[0]?.textContent).toBe('More filters3');
  const chips = all('main button', /Remove the filter/);
  await expect(chips.map((chip) => outline(chip)).join('')).toMatchFileSnapshot('outlines/narrow-chips.txt');
  chips[1]?.click();
  await isAt({ generator: 'lakes', from: '2026-08-01', find: 'fox' });
});

it('finds people by what is typed once it rests, and takes who is chosen or typed', async () => {
  const { askedFor, isAt } = await open('/tasks', ADMINISTRATOR);
  await find('input', 'Owner');
  await waitFor(() => expect(askedFor('People')).toEqual([{ first: 20, search: null }]));
  await afterPause(299, () => write('Owner', ' be '));
  expect(askedFor('People')).toHaveLength(1);
  await afterPause(300, () => write('Owner', ' ben '));
  await waitFor(() => expect(askedFor('People').at(-1)).toEqual({ first: 20, search: 'ben' }));
  await afterPause(300, () => write('Owner', 'usr_z'));
  expect(askedFor('People').some(({ search }) => search === 'usr_z')).toBe(false);
  await isAt({});
  submit(await write('Owner', ' key_1 '));
  await isAt({ owner: 'key_1' });
  await write('Owner', 'usr_b');
  await isAt({ owner: 'usr_b' });
  await write('Owner', '');
  await isAt({});
});
