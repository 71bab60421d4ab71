import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { rest } from '../../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../../kit/kiln.ts';

let kiln: KilnUnderTest;
beforeAll(async () => {
  kiln = await startKiln();
});
afterAll(() => kiln.close());

describe('the template catalog', () => {
  it('creates, lists, changes and deletes, and frees the task type of what is deleted', async () => {
    const taken = async () =>
      (await rest(kiln.url, 'GET', '/api/template/check/task_type?task_type=ink')).body.data.available ===
      false;
    const template = {
      id: 77_777,
      task_type: 'ink',
      prompt: '水墨',
      presetPrompts: 'one\ntwo',
      title_en: null,
      category: 'art',
      depth: { of: [1, 2] },
    };
    const created = (await rest(kiln.url, 'POST', '/api/template/create', template)).body.data;
    expect(created).toMatchObject({ ...template, id: created.id, aspect_ratio: null, engine: null });
    expect(created.id).not.toBe(77_777);
    expect(await taken()).toBe(true);
    const again = await rest(kiln.url, 'POST', '/api/template/create', { task_type: 'ink' });
    expect(again.body).toEqual({ status: false, data: null, msg: expect.stringContaining('taken') });

    const change = { id: created.id, prompt: 'wash', depth: 3 };
    const changed = (await rest(kiln.url, 'PUT', '/api/template/update', change)).body.data;
    expect(changed).toEqual({ ...created, prompt: 'wash', depth: 3 });
    const listed = async (query: string) =>
      (await rest(kiln.url, 'GET', `/api/template/default?${query}`)).body;
    expect(await listed('category=art')).toEqual({
      status: true,
      data: [changed],
      page: 1,
      page_size: 100,
      total: 1,
      total_pages: 1,
    });
    expect((await listed('task_type=ink&category=全部')).data).toEqual([changed]);
    expect(await listed('page=2147483648&category=art')).toMatchObject({
      data: [],
      total: 1,
      page: 2_147_483_648,
    });

    const path = `/api/template/delete/${created.id}`;
    expect((await rest(kiln.url, 'DELETE', path)).body.data).toEqual({ id: created.id, deleted: true });
    expect((await rest(kiln.url, 'DELETE', path)).body.status).toBe(false);
    expect((await rest(kiln.url, 'PUT', '/api/template/update', change)).body.status).toBe(false);
    expect(await listed('category=art')).toMatchObject({ data: [], total: 0, total_pages: 0 });
    expect(await taken()).toBe(false);
    expect((await rest(kiln.url, 'POST', '/api/template/create', { task_type: 'ink' })).body.status).toBe(
      true,
    );
  });

  it('lists in pages, ordered by id', async () => {
    const page = async (number: number) =>
      (await rest(kiln.url, 'GET', `/api/template/default?page_size=2&page=${number}`)).body;
    const ids: number[] = [];
    const { total, total_pages } = await page(1);
    for (let number = 1; number <= total_pages; number += 1) {
      ids.push(...(await page(number)).data.map(({ id }: { id: number }) => id));
    }
    expect(ids).toHaveLength(total);
    expect(ids).toEqual(ids.toSorted((one, other) => one - other));
    expect(new Set(ids).size).toBe(total);
  });
});
