import { waitFor } from '@testing-library/preact';
import { afterEach, expect, it } from 'vitest';

import { createList } from '../../testing/things.ts';
import { all, find, key, press, submit, write } from '../../testing/use.ts';
import { closeConsole, openConsole } from '../../testing/whole-console.tsx';
import { sameView, withoutView, withView } from './saved-views.tsx';

it('keeps one view of a name, the newest last, and twenty at most', () => {
  const failed = { name: 'Failed', search: { state: 'FAILED' } };
  const slow = { name: 'Slow', search: { type: 'VIDEO', state: 'RUNNING' } };
  const again = { name: 'Failed', search: { state: 'FAILED', find: 'fox' } };
  expect(withView([failed, slow], again)).toEqual([slow, again]);
  expect(withoutView([failed, slow], 'Failed')).toEqual([slow]);
  const many = Array.from({ length: 20 }, (_, index) => ({ name: `${index}`, search: {} }));
  expect(withView(many, slow)).toHaveLength(20);
  expect(withView(many, slow).at(-1)).toBe(slow);
});

it('knows a view by its filters, in whatever order an address has them', () => {
  expect(sameView({ state: 'FAILED', find: 'fox' }, { find: 'fox', state: 'FAILED' })).toBe(true);
  expect(sameView({ state: 'FAILED' }, {})).toBe(false);
});

afterEach(closeConsole);

// What is kept lives as long as the page, for each account: somebody new each time.
const open = (address: string, id: string) =>
  openConsole(address, {
    caller: { id, kind: 'USER', mayStart: true },
    viewer: { id, name: id },
    tasks: createList([]),
  });
const views = () => document.querySelector('main [role=group][aria-label=Views]');

it('keeps the filters of an address under a name, and shows them again', async () => {
  const { address } = await open('/tasks?state=FAILED', 'usr_views');
  await waitFor(() => expect(document.querySelector('nav a[title]')?.textContent).not.toBe(''));
  await waitFor(() => expect(document.body.textContent).toContain('usr_views'));
  await press('Save this view');
  const field = await write('Name of this view', '   ');
  const save = () => field.form?.querySelector('button');
  await waitFor(() => expect(save()?.disabled).toBe(true));
  await write('Name of this view', ' Failed ones ');
  await waitFor(() => expect(save()?.disabled).toBe(false));
  submit(field);
  const chip = await find('button', 'Failed ones');
  expect(chip.getAttribute('aria-pressed')).toBe('true');
  expect(all('button', 'Save this view')).toEqual([]);
  expect(localStorage.getItem('kiln.views')).toContain('"name":"Failed ones","search":{"state":"FAILED"}');
  await press('Succeeded');
  await waitFor(() => expect(address()).toBe('/tasks?state=SUCCEEDED'));
  await waitFor(() => expect(all('button', 'Failed ones')[0]?.getAttribute('aria-pressed')).toBe('false'));
  expect(all('button', /^Remove the view/)).toEqual([]);
  await find('button', 'Save this view');
  await press('Failed ones');
  await waitFor(() => expect(address()).toBe('/tasks?state=FAILED'));
  await press('Remove the view Failed ones');
  await waitFor(() => expect(all('button', 'Failed ones')).toEqual([]));
  await find('button', 'Save this view');
});

it('shows the views of whoever this is as soon as that is known, and keeps what another tab has added', async () => {
  const view = (name: string) => ({ name, search: { find: name } });
  const store = (...names: readonly string[]) => {
    const entry = { owner: 'usr_tabs', name: 'tasks', at: Date.now() + 1, value: names.map(view) };
    localStorage.setItem('kiln.views', JSON.stringify([entry]));
  };
  const who = Promise.withResolvers<object>();
  store('mine');
  await openConsole('/tasks?state=FAILED', { caller: () => who.promise, tasks: createList([]) });
  await find('button', 'Save this view');
  expect(all('button', 'mine')).toEqual([]);
  who.resolve({ id: 'usr_tabs', kind: 'USER', mayStart: true });
  await find('button', 'mine');
  store('mine', 'theirs');
  await press('Save this view');
  submit(await write('Name of this view', 'new'));
  await find('button', 'new');
  expect(['mine', 'theirs', 'new'].map((name) => all('button', name).length)).toEqual([1, 1, 1]);
});

it('shows nothing of views where there are none, and gives a name up by Escape', async () => {
  await open('/tasks', 'usr_no_views');
  await find('h2', 'No tasks here');
  expect(views()).toBeNull();
  await press('Failed');
  await press('Save this view');
  const field = await find('input', 'Name of this view');
  key('a', {}, field);
  expect(all('input', 'Name of this view')).toHaveLength(1);
  key('Escape', {}, field);
  await waitFor(() => expect(all('input', 'Name of this view')).toEqual([]));
});
