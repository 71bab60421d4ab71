import { fireEvent, screen, waitFor } from '@testing-library/preact';
import userEvent from '@testing-library/user-event';
import { afterEach, expect, it, vi } from 'vitest';

import { outline } from '../../../testing/outline.ts';
import { daysAgo, execution, createPage, template } from '../../../testing/shop.ts';
import { submit } from '../../../testing/use.ts';
import {
  ADA,
  ADMINISTRATOR,
  closeConsole,
  type Fields,
  openConsole,
  refusal,
} from '../../../testing/whole-console.tsx';
import { t } from '../../../text/text.ts';

afterEach(closeConsole);

const model = (name: string, kind: string, change: Fields = {}): Fields => ({
  id: name,
  model: name,
  name,
  kinds: [kind],
  ...change,
});
const always: Fields = {
  ...ADMINISTRATOR,
  templatesConnection: createPage([]),
  unrunnableTemplates: [],
  models: [model('large', 'IMAGE'), model('moving', 'VIDEO')],
  comfyWorkflows: [{ name: 'portrait', inputs: { face: { type: 'string' } } }],
  catalogState: [],
};
const open = (change: Fields = {}, more: Fields = {}) =>
  openConsole('/shop/templates/poster', { ...always, template: template('poster', change), ...more });
const field = (label: string) => screen.findByLabelText<HTMLInputElement>(new RegExp(`^${label}`));
const type = async (label: string, value: string) =>
  void fireEvent.input(await field(label), { target: { value } });
const change = async (label: string, value: string) =>
  void fireEvent.change(await field(label), { target: { value } });
const choose = async (label: string, value: string) => userEvent.selectOptions(await field(label), value);
const options = async (label: string) =>
  [...((await field(label)) as unknown as HTMLSelectElement).options].map((one) => one.value);
const press = async (words: string) =>
  void fireEvent.click(await screen.findByText(words, { selector: 'button' }));
const send = (label: string) => submit(document.querySelector(`form[aria-label="${label}"]`));
const refused =
  (code: string, more: object = {}) =>
  () => {
    throw refusal(code, more);
  };

it('shows a template, why it cannot be run, and how it stands at the payment provider', async () => {
  await open(
    {
      ppProductId: 'prod_1',
      lastPpSyncAt: daysAgo(1),
      price: 250,
      imageModel: 'old',
      imagePrompt: '{prompt}',
    },
    {
      unrunnableTemplates: [{ template: template('poster'), reason: 'no key', generator: 'image' }],
      health: { generators: [{ generator: 'image', setting: 'A_KEY and B_KEY' }, { generator: 'video' }] },
      catalogState: [{ synced: false, issues: ['no price there'], recommendations: ['send it again'] }],
    },
  );
  await screen.findByText('A_KEY');
  await screen.findByText('no price there');
  await screen.findByText('large');
  await expect(outline()).toMatchFileSnapshot('outlines/template.txt');
});

it('sends a template to the payment provider again, and looks there after', async () => {
  const { askedFor, hasAsked } = await open(
    {},
    {
      catalogState: [{ synced: true, issues: [], recommendations: [] }],
      unrunnableTemplates: [{ template: template('poster'), reason: 'no key', generator: null }],
      syncTemplates: [],
    },
  );
  expect(await screen.findByText(t('shop.synced'))).toBeDefined();
  expect(await screen.findByText('no key')).toBeDefined();
  expect(screen.getByText(t('keys.never'))).toBeDefined();
  expect(askedFor('GeneratorSettings')).toEqual([]);
  await press(t('shop.operation.SYNC'));
  await hasAsked('SyncTemplates');
  expect(askedFor('SyncTemplates')).toEqual([{ codes: ['poster'] }]);
  await hasAsked('CatalogState', 2);
  expect(askedFor('CatalogState')[0]).toEqual({ code: 'poster' });
});

it('says what keeps it from being sold', async () => {
  await open(
    { salePrice: null },
    {
      unrunnableTemplates: [{ template: template('poster'), reason: 'no key', generator: 'image' }],
      health: { generators: [] },
    },
  );
  expect(await screen.findByText(t('shop.noProviderText'))).toBeDefined();
  expect(await screen.findByText(t('providers.administrators'))).toBeDefined();
  expect(screen.queryByText(t('shop.operation.SYNC'))).toBeNull();
  await closeConsole();
  await open({}, { catalogState: refused('UNAVAILABLE') });
  expect(await screen.findByRole('alert')).toBeDefined();
});

it('saves what was changed, and says so until something is typed', async () => {
  const { askedFor, hasAsked } = await open({ parameters: {} }, { updateTemplate: template('poster') });
  await type(t('field.name'), ' A poster ');
  await type(t('shop.description'), 'large');
  await type(t('shop.tags'), 'a, b');
  await type(t('shop.version'), '2.0.0');
  await type(t('field.prompt'), 'a poster of {prompt}');
  await change(t('shop.creditCost'), '5');
  expect((await field(t('shop.currency'))).disabled).toBe(true);
  await change(t('shop.ownPrice'), '12.5');
  await waitFor(async () => expect((await field(t('shop.currency'))).disabled).toBe(false));
  await change(t('shop.currency'), 'EUR');
  await choose(t('studio.model'), 'large');
  fireEvent.click(await screen.findByLabelText(t('shop.isActive')));
  send(t('shop.template'));
  expect(await screen.findByText(t('shop.saved'))).toBeDefined();
  expect(askedFor('UpdateTemplate')).toEqual([
    {
      code: 'poster',
      change: {
        name: 'A poster',
        description: 'large',
        tags: ['a', 'b'],
        version: '2.0.0',
        imagePrompt: 'a poster of {prompt}',
        imageModel: 'large',
        workflow: 'image',
        templateType: 'IMAGE',
        creditCost: 5,
        price: 1_250,
        currency: 'eur',
        isActive: false,
      },
    },
  ]);
  await hasAsked('CatalogState', 2);
  await type(t('field.name'), 'B');
  await waitFor(() => expect(screen.queryByText(t('shop.saved'))).toBeNull());
});

it('says at each field what is wrong with it', async () => {
  const { askedFor } = await open(
    { salePrice: { amount: 5, currency: 'jpy' } },
    { updateTemplate: refused('BAD_USER_INPUT', { field: 'name' }) },
  );
  await change(t('shop.ownPrice'), '700');
  send(t('shop.template'));
  await waitFor(async () => expect((await field(t('field.name'))).getAttribute('aria-invalid')).toBe('true'));
  await expect(outline((await field(t('field.name'))).parentElement)).toMatchFileSnapshot(
    'outlines/field-problem.txt',
  );
  expect((await field(t('shop.description'))).getAttribute('aria-invalid')).toBe('false');
  expect(screen.queryByText(t('shop.saved'))).toBeNull();
  // Without a currency of its own it is sold in the usual one, which has no cents.
  expect(askedFor('UpdateTemplate')[0]).toMatchObject({ change: { price: 700 } });
});

it('offers the models of what it makes, and the inputs of a graph in the place of them', async () => {
  await open({}, { executeTemplate: execution('one') });
  await waitFor(async () => expect(await options(t('studio.model'))).toEqual(['', 'large']));
  await choose(t('studio.model'), 'large');
  expect(await options(t('shop.workflow'))).toEqual(['image', 'video', 'comfy:portrait']);
  await choose(t('shop.workflow'), 'image');
  expect((await field(t('studio.model'))).value).toBe('large');
  await choose(t('shop.workflow'), 'video');
  await waitFor(async () => expect(await options(t('studio.model'))).toEqual(['', 'moving']));
  expect((await field(t('studio.model'))).value).toBe('');
  expect(screen.queryByLabelText(t('models.makes'))).toBeNull();
  await choose(t('shop.workflow'), 'comfy:portrait');
  const makes = await field(t('models.makes'));
  expect(makes.value).toBe('VIDEO');
  expect(screen.queryByLabelText(t('studio.model'))).toBeNull();
  await choose(t('models.makes'), 'IMAGE');
  await waitFor(() => expect(makes.value).toBe('IMAGE'));
  await choose(t('models.makes'), 'VIDEO');
  await waitFor(() => expect(makes.value).toBe('VIDEO'));
  await choose(t('shop.workflow'), 'image');
  await waitFor(async () => expect(await options(t('studio.model'))).toEqual(['', 'large']));
});

it('is deleted after a yes', async () => {
  const confirm = vi.fn<(words?: string) => boolean>().mockReturnValueOnce(false).mockReturnValue(true);
  let isRefused = true;
  const deleteTemplate = () => {
    if (isRefused) throw refusal('FORBIDDEN');
    return true;
  };
  const { address, askedFor } = await open({}, { deleteTemplate });
  vi.stubGlobal('confirm', confirm);
  await press(t('shop.delete'));
  expect(confirm).toHaveBeenCalledWith(t('shop.deleteSure', { name: 'The poster' }));
  expect(askedFor('DeleteTemplate')).toEqual([]);
  await press(t('shop.delete'));
  expect(await screen.findByRole('alert')).toBeDefined();
  expect(address()).toBe('/shop/templates/poster');
  isRefused = false;
  await press(t('shop.delete'));
  await waitFor(() => expect(address()).toBe('/shop?view=manage'));
  expect(askedFor('DeleteTemplate')).toEqual([{ code: 'poster' }, { code: 'poster' }]);
  // It was not deleted while the answer was no.
  expect(confirm).toHaveBeenCalledTimes(3);
});

const testRun = () =>
  document.querySelector<HTMLButtonElement>(`form[aria-label="${t('shop.testRun')}"] > button`);

it('is run to try it, and leads to its execution', async () => {
  const { address, askedFor } = await open(
    { parameters: { size: { type: 'string' } } },
    { executeTemplate: execution('one'), execution: execution('one') },
  );
  await type('size', 'large');
  expect(testRun()?.disabled).toBe(false);
  send(t('shop.testRun'));
  await waitFor(() => expect(address()).toBe('/shop/executions/task-one'));
  expect(askedFor('ExecuteTemplate')[0]).toMatchObject({ code: 'poster', parameters: { size: 'large' } });
});

it.each([
  ['off sale', { isActive: false }, true, t('shop.testInactive')],
  ['to be paid', {}, false, t('shop.testPaid')],
  ['to be paid by its own price', { creditCost: 0, price: 500 }, false, t('shop.testPaid')],
  ['free', { creditCost: 0 }, false, null],
] as const)('may be tried or not: %s', async (_, of, mayRunUnpaid, words) => {
  const caller = { ...(ADMINISTRATOR['caller'] as Fields), mayRunUnpaid };
  await open(of, { caller });
  await screen.findByText(t('shop.testRun'));
  await waitFor(() => expect(testRun()?.disabled).toBe(words !== null));
  expect(
    [t('shop.testInactive'), t('shop.testPaid')].filter((one) => screen.queryByText(one) !== null),
  ).toEqual(words === null ? [] : [words]);
});

it('says why a try is refused', async () => {
  await open({}, { executeTemplate: refused('FORBIDDEN') });
  await screen.findByText(t('shop.testRun'));
  send(t('shop.testRun'));
  expect(await screen.findByRole('alert')).toBeDefined();
});

it('is made anew, and has its page then', async () => {
  let isRefused = true;
  const createTemplate = () => {
    if (isRefused) throw refusal('BAD_USER_INPUT', { field: 'code' });
    return template('card');
  };
  const { address, askedFor } = await openConsole('/shop/new', {
    ...always,
    createTemplate,
    template: template('card'),
  });
  await type(t('shop.code'), ' card ');
  await type(t('field.name'), 'A card');
  await screen.findByText('large');
  await expect(outline()).toMatchFileSnapshot('outlines/template-new.txt');
  send(t('shop.template'));
  await waitFor(async () => expect((await field(t('shop.code'))).getAttribute('aria-invalid')).toBe('true'));
  isRefused = false;
  send(t('shop.template'));
  await waitFor(() => expect(address()).toBe('/shop/templates/card'));
  expect(askedFor('CreateTemplate')[1]).toMatchObject({
    input: { code: 'card', name: 'A card', workflow: 'image', creditCost: 1 },
  });
});

it.each(['/shop/new', '/shop/templates/poster'])('keeps %s for administrators', async (address) => {
  const { askedFor } = await openConsole(address, { ...always, ...ADA, template: template('poster') });
  expect(await screen.findByText(t('signIn.administrators'))).toBeDefined();
  expect(screen.queryByText(t('shop.newTemplate'))).toBeNull();
  expect(askedFor('Unrunnable')).toEqual([]);
});

it('says that there is none, and that it cannot be asked', async () => {
  await openConsole('/shop/templates/none', { ...always, template: null });
  expect(await screen.findByText(t('shell.notFound'))).toBeDefined();
  await closeConsole();
  await openConsole('/shop/templates/none', { ...always, template: refused('UNAVAILABLE') });
  expect(await screen.findByRole('alert')).toBeDefined();
});

it.each([
  ['/shop/templates/poster', { template: () => new Promise(() => undefined) }],
  ['/shop/templates/poster', { caller: () => new Promise(() => undefined) }],
  ['/shop/new', { caller: () => new Promise(() => undefined) }],
])('waits for what it shows: %s', async (address, pending) => {
  // The code of the page is there since the first test; else something would stand in its place.
  await openConsole(address, { ...always, template: template('poster'), ...pending });
  await waitFor(() => expect(document.querySelectorAll('main [aria-busy=true]')).toHaveLength(1));
  expect(document.querySelector('form')).toBeNull();
});
