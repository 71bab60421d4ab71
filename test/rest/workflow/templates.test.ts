import { randomUUID } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { graphql, rest } from '../../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../../kit/kiln.ts';
import { moment, refusal, told } from './envelopes.ts';

/** Templates and their products over REST at a live server; what runs them is in workflow-tasks.test.ts. */

let kiln: KilnUnderTest;
beforeAll(async () => {
  kiln = await startKiln();
});
afterAll(() => kiln?.close());

const get = (path: string) => rest(kiln.url, 'GET', path);
const post = (path: string, body?: object | string) => rest(kiln.url, 'POST', path, body);
const put = (path: string, body: object) => rest(kiln.url, 'PUT', path, body);
const remove = (code: string) => rest(kiln.url, 'DELETE', `/templates/delete/${code}`);

const product = { ppProductId: expect.stringMatching(/^prod_/), ppPriceId: expect.stringMatching(/^price_/) };

async function made(more: object = {}): Promise<string> {
  const code = `t-${randomUUID()}`;
  const answer = await post('/templates', { code, name: 'Mine', ...more });
  expect(answer).toEqual(told({ code, ...product }));
  return code;
}

const listCodes = async () =>
  (await get('/templates')).body.data.templates.map(({ code }: { code: string }) => code);

describe('GET /templates', () => {
  it('lists the active ones, in the documented fields', async () => {
    const code = await made({ tags: ['a', 'b'], creditCost: 3, templateType: 'VIDEO', description: 'What.' });
    const { body } = await get('/templates');
    expect(body.data.total).toBe(body.data.templates.length);
    expect(body.data.templates.find((one: { code: string }) => one.code === code)).toEqual({
      code,
      name: 'Mine',
      description: 'What.',
      creditCost: 3,
      price: null,
      currency: null,
      templateType: 'VIDEO',
      isActive: true,
      tags: ['a', 'b'],
    });
    expect(await listCodes()).toEqual(expect.arrayContaining(['clip', 'poster', 'sketch']));
  });
});

describe('a price', () => {
  it('that the payment provider would not charge is refused when the template is saved', async () => {
    const cheap = { code: `t-${randomUUID()}`, name: 'Cheap' };
    expect(await post('/templates', { ...cheap, price: 49 })).toEqual(refusal(400, ['price']));
    const pence = await post('/templates', { ...cheap, price: 29, currency: 'GBP' });
    expect([pence.status, pence.body.message]).toEqual([
      400,
      'price: 29 gbp (minor units) is less than the payment provider charges, 30; take 0 or at least 30',
    ]);
    expect(await post('/templates', { ...cheap, currency: 'xxy' })).toEqual(refusal(400, ['currency']));
    expect(await post('/templates', { ...cheap, price: -1 })).toEqual(refusal(400, ['price']));
    // One credit is 100 minor units: too little in Hong Kong dollars.
    expect(await post('/templates', { ...cheap, creditCost: 1, currency: 'hkd' })).toEqual(
      refusal(400, ['creditCost']),
    );
    expect(await get(`/templates/get/${cheap.code}`)).toEqual(refusal(404));
    const code = await made({ creditCost: 1 });
    expect(await put(`/templates/update/${code}`, { price: 10 })).toEqual(refusal(400, ['price']));
  });

  it('and a currency of its own hold in place of the usual ones, until they are taken back', async () => {
    const code = await made({ creditCost: 2, price: 777, currency: 'EUR' });
    const sold = async () => {
      const { body } = await post(`/payment/checkout/${code}`, { userId: 'u', metadata: { prompt: 'x' } });
      const { amount, currency } = (await get(`/payment/${body.data.paymentId}`)).body.data;
      return [amount, currency];
    };
    expect((await get(`/templates/get/${code}`)).body.data).toMatchObject({ price: 777, currency: 'eur' });
    expect(await sold()).toEqual([777, 'eur']);
    await put(`/templates/update/${code}`, { price: 888 });
    expect(await sold()).toEqual([888, 'eur']);
    await put(`/templates/update/${code}`, { currency: '' });
    expect(await sold()).toEqual([200, 'usd']);
  });
});

it('what a template does not have is named where it was sent', async () => {
  const code = `t-${randomUUID()}`;
  const created = await post('/templates', { code, name: 'Mine', videoModel: 'sora-2' });
  expect(created.body.message).toBe('template created; not written: videoModel');
  const path = `/templates/update/${code}`;
  const renamed = await put(path, { name: 'Other', code: 'another', owner: 'x' });
  expect(renamed.body).toMatchObject({
    message: 'template updated; not written: code, owner',
    data: { updated: true },
  });
  expect((await put(path, { owner: 'x' })).body).toMatchObject({
    message: expect.stringMatching(/^nothing to change: .*; not written: owner$/),
    data: { updated: false },
  });
});

describe('POST /templates', () => {
  it('fills in what is left out', async () => {
    const code = await made();
    expect(await get(`/templates/get/${code}`)).toEqual(
      told({
        code,
        name: 'Mine',
        description: '',
        creditCost: 0,
        price: null,
        currency: null,
        templateType: 'IMAGE',
        workflow: 'image',
        isActive: true,
        ppProductId: product.ppProductId,
        createdAt: moment,
      }),
    );
    const video = await made({ templateType: 'VIDEO' });
    expect((await get(`/templates/get/${video}`)).body.data.workflow).toBe('video');
  });

  it('names everything that is wrong', async () => {
    expect(await post('/templates', {})).toEqual(refusal(400, ['code', 'name']));
    const typed = {
      code: 'x',
      name: 'x',
      creditCost: 'much',
      templateType: 'SOUND',
      tags: 'a',
      description: 1,
    };
    expect(await post('/templates', typed)).toEqual(
      refusal(400, ['description', 'creditCost', 'templateType', 'tags']),
    );
    const meant = { code: 'a b', name: ' ', creditCost: -1 };
    expect(await post('/templates', meant)).toEqual(refusal(400, ['code', 'name', 'creditCost']));
    const large = await post('/templates', { code: 'x', name: 'x', creditCost: 3_000_000_000 });
    expect(large).toEqual(refusal(400, ['creditCost']));
    expect(large.body.message).not.toContain('$');
    expect(await post('/templates', '{')).toEqual(refusal(400, [null]));
  });

  it.each([
    ['workflow', { workflow: 'their-workflow' }, 'image, video, comfy:<name>'],
    ['workflow', { workflow: 'their-workflow' }, 'text-to-image'],
    ['workflow', { workflow: 'text-to-image' }, 'comfy:text-to-image is one'],
    ['workflow', { workflow: 'comfy:none' }, 'text-to-image'],
    ['imageModel', { imageModel: 'none' }, 'gpt-image-1'],
    ['imageModel', { imageModel: 'none', templateType: 'VIDEO' }, 'kling-v1-6'],
  ])('refuses a %s that is not known here, and names those that are: %o', async (field, more, known) => {
    const refused = await post('/templates', { code: `t-${randomUUID()}`, name: 'Never', ...more });
    expect(refused).toEqual(refusal(400, [field]));
    expect(refused.body.message).toContain(known);
    const changed = await put(`/templates/update/${await made()}`, more);
    expect(changed).toEqual(refusal(400, [field]));
    expect(changed.body.message).toContain(known);
  });

  it('refuses a code that is taken, and takes that of a deleted one', async () => {
    const code = await made();
    expect(await post('/templates', { code, name: 'Other' })).toEqual(refusal(400, ['code']));
    expect(await remove(code)).toEqual(told({ deleted: true }));
    expect((await post('/templates', { code, name: 'Other' })).status).toBe(200);
    expect((await get(`/templates/get/${code}`)).body.data.name).toBe('Other');
  });
});

describe('a template', () => {
  it('is changed in part', async () => {
    const code = await made({ description: 'Old.', creditCost: 1 });
    const changed = told({ updated: true, ppSynced: true });
    expect(await put(`/templates/update/${code}`, { creditCost: 2, code: 'ignored' })).toEqual(changed);
    expect((await get(`/templates/get/${code}`)).body.data).toMatchObject({
      description: 'Old.',
      creditCost: 2,
    });
    expect(await put(`/templates/update/${code}`, { isActive: false })).toEqual(changed);
    expect(await listCodes()).not.toContain(code);
    expect(await put(`/templates/update/${code}`, { isActive: 'perhaps', name: [] })).toEqual(
      refusal(400, ['name', 'isActive']),
    );
    expect(await put(`/templates/update/${code}`, { name: '' })).toEqual(refusal(400, ['name']));
  });

  it('is changed in whatever it was made of', async () => {
    const code = await made();
    const change = {
      workflow: 'comfy:text-to-image',
      version: '2.0.0',
      tags: ['new'],
      imagePrompt: '{prompt}, in ink',
    };
    expect(await put(`/templates/update/${code}`, change)).toEqual(told({ updated: true, ppSynced: true }));
    const query = `query ($code: ID!) { template(code: $code) { workflow version tags imagePrompt parameters } }`;
    expect((await graphql(kiln.url, query, { code })).data.template).toEqual({ ...change, parameters: {} });
    await put(`/templates/update/${code}`, {
      workflow: 'image',
      imageModel: 'gpt-image-1',
      templateType: 'VIDEO',
    });
    const kinds = `query ($code: ID!) { template(code: $code) { workflow imageModel templateType } }`;
    expect((await graphql(kiln.url, kinds, { code })).data.template).toEqual({
      workflow: 'image',
      imageModel: 'gpt-image-1',
      templateType: 'VIDEO',
    });
  });

  it('says so when nothing was changed', async () => {
    const code = await made();
    for (const nothing of [{}, { cost: 5 }]) {
      const { status, body } = await put(`/templates/update/${code}`, nothing);
      expect([status, body.data.updated]).toEqual([200, false]);
      expect(body.message).toContain('imagePrompt');
    }
  });

  it('that can not be run any more is reported, and its start is refused', async () => {
    const code = await made({ imagePrompt: 'a fox' });
    await kiln.runtime.database.pool.query(
      `update workflow.templates set image_model = 'gone' where code = $1`,
      [code],
    );
    const issue = expect.stringContaining("can't be run now");
    const verified = (await get(`/templates/verify-sync/${code}`)).body.data;
    expect(verified).toMatchObject({ synced: true, issues: [issue] });
    const { templates } = (await get('/templates/sync-status')).body.data;
    const found = templates.find((one: { code: string }) => one.code === code);
    expect(found.issues).toEqual([issue]);
    const diagnosis = (await get('/templates/diagnose-pp')).body.data;
    expect(diagnosis.issues).toEqual([expect.stringContaining(code)]);
    expect(await post(`/templates/execute/${code}`, {})).toEqual(refusal(400, ['code']));
    await remove(code);
  });

  it('is switched off and on', async () => {
    const code = await made();
    expect(await post(`/templates/deactivate/${code}`)).toEqual(told({ isActive: false, ppSynced: true }));
    expect((await get(`/templates/get/${code}`)).body.data.isActive).toBe(false);
    expect(await post(`/templates/execute/${code}`, {})).toEqual(refusal(400, ['code']));
    expect(await post('/task', { templateCode: code })).toEqual(refusal(400, ['templateCode']));
    expect(await post(`/templates/activate/${code}`)).toEqual(told({ isActive: true, ppSynced: true }));
    expect(await listCodes()).toContain(code);
  });

  it('that nobody knows is 404 everywhere', async () => {
    const answers = [
      await get('/templates/get/none'),
      await put('/templates/update/none', { name: 'x' }),
      await remove('none'),
      await post('/templates/activate/none'),
      await post('/templates/deactivate/none'),
      await post('/templates/execute/none', {}),
      await post('/templates/sync/none'),
      await get('/templates/verify-sync/none'),
    ];
    for (const answer of answers) expect(answer).toEqual(refusal(404));
    expect(await rest(kiln.url, 'PATCH', '/templates')).toEqual(refusal(405));
    expect(await get('/templates/nothing/here/at/all')).toEqual(refusal(404));
  });
});

describe('the products of templates', () => {
  it('are synchronised one by one and verified', async () => {
    const code = await made({ creditCost: 2 });
    const synced = told({ synced: true, ...product });
    expect(await post(`/templates/sync/${code}`)).toEqual(synced);
    expect(await post(`/templates/sync/${code}`, { forceUpdate: true })).toEqual(synced);
    expect(await post(`/templates/sync/${code}`, { forceUpdate: 'x' })).toEqual(
      refusal(400, ['forceUpdate']),
    );
    expect(await get(`/templates/verify-sync/${code}`)).toEqual(
      told({ templateCode: code, synced: true, issues: [], ...product, recommendations: [] }),
    );
  });

  it('are synchronised all at once, and counted', async () => {
    const code = await made();
    const all = await get('/templates/sync-all-pp');
    const { total } = all.body.data;
    expect(all).toEqual(told({ successful: total, failed: 0, total }));
    expect(all.headers.get('cache-control')).toBe('no-store');
    const { body } = await get('/templates/sync-status');
    const active = (await listCodes()).length;
    expect(body.data).toEqual({
      totalTemplates: total,
      withPpProduct: total,
      activeTemplates: active,
      needsSync: 0,
      templates: expect.arrayContaining([
        { code, name: 'Mine', isActive: true, hasPpProduct: true, lastPpSyncAt: moment, issues: [] },
      ]),
    });
    // What has not changed is not sent again.
    await get('/templates/sync-all-pp');
    expect((await get('/templates/sync-status')).body.data).toEqual(body.data);
  });

  it('stand at a provider that can be looked at', async () => {
    expect(await get('/templates/diagnose-pp')).toEqual(
      told({
        environment: 'development',
        apiKeyValid: true,
        issues: [],
        accountInfo: { chargesEnabled: true, country: 'US' },
        recommendations: [],
      }),
    );
  });
});

describe('POST /templates/bulk', () => {
  it('does each operation to each template that is there', async () => {
    const codes = [await made(), await made()];
    for (const operation of ['sync_pp', 'deactivate', 'activate', 'delete']) {
      const asked = { templateCodes: [...codes, 'none'], operation };
      expect(await post('/templates/bulk', asked)).toEqual(
        told({ successful: codes, failed: [{ code: 'none', error: expect.any(String) }], total: 3 }),
      );
      if (operation === 'delete') continue;
      const { data } = (await get(`/templates/get/${codes[1]}`)).body;
      expect(data.isActive).toBe(operation !== 'deactivate');
    }
    expect(await get(`/templates/get/${codes[0]}`)).toEqual(refusal(404));
  });

  it('refuses what is no operation, and no list', async () => {
    expect(await post('/templates/bulk', { templateCodes: [], operation: 'explode' })).toEqual(
      refusal(400, ['operation']),
    );
    expect(await post('/templates/bulk', { templateCodes: 'poster' })).toEqual(
      refusal(400, ['templateCodes', 'operation']),
    );
    const many = Array.from({ length: 1_001 }, (_, index) => `c${index}`);
    expect(await post('/templates/bulk', { templateCodes: many, operation: 'activate' })).toEqual(
      refusal(400, ['templateCodes']),
    );
  });
});

describe('what comes with Kiln', () => {
  it('is imported again where it was deleted, and left alone where it is', async () => {
    await put('/templates/update/poster', { name: 'Ours now' });
    await remove('sketch');
    const codes = ['poster', 'clip', 'sketch'];
    const details = codes.map((code) => ({ code, status: 'success', error: null }));
    const answer = await get('/templates/init');
    expect(answer).toEqual(told({ total: 3, imported: 3, failed: 0, details }));
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect((await get('/templates/get/poster')).body.data.name).toBe('Ours now');
    expect((await get('/templates/get/sketch')).status).toBe(200);
  });

  it('makes a new template to try things with each time', async () => {
    const code = expect.stringMatching(/^test-/);
    const [one, other] = [await post('/templates/test/create'), await post('/templates/test/create')];
    for (const answer of [one, other]) expect(answer).toEqual(told({ code, ...product }));
    expect(one.body.data.code).not.toBe(other.body.data.code);
  });

  it('counts its templates for the health page', async () => {
    const { body } = await get('/templates/health');
    expect(body.data).toEqual({
      totalTemplates: expect.any(Number),
      timestamp: moment,
      service: 'templates',
    });
    expect(body.data.totalTemplates).toBeGreaterThanOrEqual(3);
  });
});
