import { fireEvent, screen, waitFor } from '@testing-library/preact';
import { afterEach, expect, it, vi } from 'vitest';

import { outline } from '../../../testing/outline.ts';
import { createPage, template } from '../../../testing/shop.ts';
import { submit } from '../../../testing/use.ts';
import {
  ADMINISTRATOR,
  closeConsole,
  type Fields,
  openConsole,
  refusal,
} from '../../../testing/whole-console.tsx';
import { t } from '../../../text/text.ts';

afterEach(closeConsole);

const all = [
  template('poster', { ppSynced: true }),
  template('film', { isActive: false, templateType: 'VIDEO', tags: ['Cinema'] }),
  template('gift', { salePrice: null }),
];
const unrunnable = (code: string): Fields => ({
  template: template(code),
  reason: `no key for ${code}`,
  generator: 'image',
});
const open = (change: Fields = {}) =>
  openConsole('/shop?view=manage', {
    ...ADMINISTRATOR,
    templatesConnection: createPage(all),
    unrunnableTemplates: [unrunnable('film')],
    ...change,
  });
const press = async (words: string) =>
  void fireEvent.click(await screen.findByText(words, { selector: 'button' }));
const tick = async (label: string) => void fireEvent.click(await screen.findByLabelText(label));
const ticked = () =>
  [...document.querySelectorAll<HTMLInputElement>('input[type=checkbox]')].map(({ checked }) => checked);
const rows = () => [...document.querySelectorAll('tbody tr a')].map(({ textContent }) => textContent);
const find = (words: string) => {
  const field = screen.getByRole('searchbox');
  fireEvent.input(field, { target: { value: words } });
  submit(screen.getByRole('search'));
};

it('lists every template, and says which cannot be run', async () => {
  const { askedFor } = await open();
  await screen.findByText('no key for film');
  await tick(t('gallery.selectOne', { name: 'The film' }));
  await screen.findByText(t('gallery.selected', { count: 1 }));
  await expect(outline()).toMatchFileSnapshot('outlines/catalog.txt');
  expect(askedFor('Catalog')).toHaveLength(1);
});

it('is searched by code, name and tag', async () => {
  await open();
  await screen.findByText('The film');
  for (const [words, found] of [
    ['POST', ['The poster']],
    ['cinema', ['The film']],
    ['the g', ['The gift']],
  ] as const) {
    find(words);
    await waitFor(() => expect(rows()).toEqual(found));
  }
  find('nothing');
  expect(await screen.findByText(t('gallery.noMatch'))).toBeDefined();
  find('');
  await waitFor(() => expect(rows()).toHaveLength(3));
});

it('selects one, all, and none', async () => {
  await open();
  const selected = (count: number) => screen.findByText(t('gallery.selected', { count }));
  await tick(t('gallery.selectOne', { name: 'The film' }));
  await selected(1);
  expect(ticked()).toEqual([false, false, true, false]);
  await tick(t('gallery.selectOne', { name: 'The gift' }));
  await selected(2);
  await tick(t('gallery.selectOne', { name: 'The film' }));
  await waitFor(() => expect(ticked()).toEqual([false, false, false, true]));
  await tick(t('shop.selectAll'));
  await selected(3);
  expect(ticked()).toEqual([true, true, true, true]);
  await tick(t('shop.selectAll'));
  await waitFor(() => expect(ticked()).toEqual([false, false, false, false]));
  expect(screen.queryByText(t('gallery.clear'))).toBeNull();
  await tick(t('shop.selectAll'));
  await press(t('gallery.clear'));
  await waitFor(() => expect(ticked()).toEqual([false, false, false, false]));
});

it('does the same to all that are selected, and keeps those that it could not be done to', async () => {
  let failed: readonly object[] = [{ code: 'film', error: 'it is busy' }];
  const { askedFor, hasAsked } = await open({ changeTemplates: () => ({ successful: [], failed }) });
  await tick(t('gallery.selectOne', { name: 'The film' }));
  await press(t('shop.operation.DEACTIVATE'));
  expect(await screen.findByText('it is busy', { exact: false })).toBeDefined();
  await expect(outline(document.querySelector('[role=region]'))).toMatchFileSnapshot(
    'outlines/bulk-failed.txt',
  );
  expect(askedFor('ChangeTemplates')).toEqual([{ codes: ['film'], operation: 'DEACTIVATE' }]);
  failed = [];
  await waitFor(() =>
    expect(screen.getByText<HTMLButtonElement>(t('shop.operation.ACTIVATE')).disabled).toBe(false),
  );
  await press(t('shop.operation.ACTIVATE'));
  await waitFor(() => expect(ticked()).toEqual([false, false, false, false]));
  for (const name of ['Catalog', 'Unrunnable']) await hasAsked(name, 3);
});

it('deletes after a yes, and says what is refused', async () => {
  const confirm = vi.fn<(words?: string) => boolean>().mockReturnValueOnce(false).mockReturnValueOnce(true);
  const changeTemplates = () => {
    throw refusal('FORBIDDEN');
  };
  const { askedFor } = await open({ changeTemplates });
  vi.stubGlobal('confirm', confirm);
  await tick(t('gallery.selectOne', { name: 'The film' }));
  await press(t('shop.operation.DELETE'));
  expect(confirm).toHaveBeenCalledWith(t('shop.deleteMany', { count: 1 }));
  expect(askedFor('ChangeTemplates')).toEqual([]);
  await press(t('shop.operation.DELETE'));
  expect(await screen.findByRole('alert')).toBeDefined();
  expect(askedFor('ChangeTemplates')).toEqual([{ codes: ['film'], operation: 'DELETE' }]);
  expect(ticked()[2]).toBe(true);
  expect(confirm).toHaveBeenCalledTimes(2);
});

it('adds the bundled ones, and goes to a test template that it makes', async () => {
  const { address, hasAsked } = await open({
    importBundledTemplates: 2,
    createTestTemplate: template('test'),
    template: template('test'),
  });
  await screen.findByText('The film');
  await press(t('shop.addBundled'));
  await hasAsked('ImportBundledTemplates');
  await hasAsked('Catalog', 2);
  await press(t('shop.newTest'));
  await waitFor(() => expect(address()).toBe('/shop/templates/test'));
});

it.each([
  [t('shop.addBundled'), 'importBundledTemplates'],
  [t('shop.newTest'), 'createTestTemplate'],
])('says why not: %s', async (words, field) => {
  const { address } = await open({
    [field]: () => {
      throw refusal('FORBIDDEN');
    },
  });
  await press(words);
  expect(await screen.findByRole('alert')).toBeDefined();
  expect(address()).toBe('/shop?view=manage');
});

it('says that there are none, and that they cannot be asked', async () => {
  await open({ templatesConnection: createPage([]), unrunnableTemplates: [] });
  expect(await screen.findByText(t('shop.none'))).toBeDefined();
  expect(document.querySelector('[data-note]')).toBeNull();
  await closeConsole();
  await open({
    templatesConnection: () => {
      throw refusal('UNAVAILABLE');
    },
  });
  expect(await screen.findByRole('alert')).toBeDefined();
  expect(screen.queryByText(t('shop.none'))).toBeNull();
});
