import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createDatabase, type Database } from '../../../platform/database/database.ts';
import { migrate } from '../../../platform/database/migrations.ts';
import { createEventBus } from '../../../platform/events/postgres/postgres-event-bus.ts';
import { silentLogger } from '../../../platform/process/logger.ts';
import { testDatabase, type TestDatabase } from '../../../test/kit/database/postgres.ts';
import { mediaDatabase } from '../database/database.ts';
import { videoTemplates } from '../database/migrations/0003-video-templates.ts';
import { createVideoTemplateService } from './service.ts';
import type { VideoTemplateService } from './video-template.ts';

const logger = silentLogger();
let home: TestDatabase;
let database: Database;
let templates: VideoTemplateService;

beforeAll(async () => {
  home = await testDatabase();
  database = createDatabase({ config: home.config, maxConnections: 4, applicationName: 'test', logger });
  const migrations = { '0003-video-templates': videoTemplates };
  await migrate({ database, sets: [{ schema: 'media', migrations }], logger });
  templates = createVideoTemplateService(mediaDatabase(database));
});
afterAll(async () => {
  await database?.close();
  await home?.drop();
});

const everything = { taskType: null, category: null, page: 1, pageSize: 100 };

describe('the video template catalog', () => {
  it('imports the bundled templates once, also when two processes do it at the same moment', async () => {
    await Promise.all([templates.importBundled(), templates.importBundled()]);
    await templates.importBundled();
    const { items, total } = await templates.page(everything);
    expect(total).toBe(4);
    expect(items.map(({ taskType }) => taskType).sort()).toEqual(['chop', 'lady', 'tea', 'vlog']);
    for (const item of items) {
      expect(item.presetPrompts).toHaveLength(4);
      expect(item.aspectRatio).toBe('9:16');
      expect(item.fields).toMatchObject({ title_zh: expect.any(String), title_en: expect.any(String) });
    }
  });

  it('keeps additional properties as they were sent and merges them on update', async () => {
    const sent = { engine: 'x', nested: { list: [1, null, 'z'] }, category: 'a' };
    const created = await templates.create({ taskType: 'own', fields: sent, presetPrompts: [' one ', ''] });
    expect(created).toMatchObject({ taskType: 'own', fields: sent, presetPrompts: ['one'], prompt: null });
    const updated = await templates.update(String(created.id), { prompt: 'new', fields: { engine: 'y' } });
    expect(updated).toMatchObject({ prompt: 'new', taskType: 'own', presetPrompts: ['one'] });
    expect(updated.fields).toEqual({ ...sent, engine: 'y' });
    const cleared = await templates.update(String(created.id), { prompt: null });
    expect(cleared.prompt).toBeNull();
  });

  it('refuses a task type that a living template has, and frees that of a deleted one', async () => {
    const first = await templates.create({ taskType: 'taken' });
    expect(await templates.isAvailable('taken')).toBe(false);
    await expect(templates.create({ taskType: 'taken' })).rejects.toMatchObject({
      code: 'CONFLICT',
      field: 'taskType',
    });
    const other = await templates.create({ taskType: 'other' });
    await expect(templates.update(String(other.id), { taskType: 'taken' })).rejects.toMatchObject({
      code: 'CONFLICT',
    });
    expect((await templates.remove(String(first.id))).deletedAt).toBeInstanceOf(Date);
    expect(await templates.isAvailable('taken')).toBe(true);
    expect((await templates.create({ taskType: 'taken' })).id).toBeGreaterThan(first.id);
  });

  it('gives the template of a task type as it is after each change, whoever on the bus made it', async () => {
    const bus = await createEventBus({ database, logger });
    const here = createVideoTemplateService(mediaDatabase(database), bus);
    const there = createVideoTemplateService(mediaDatabase(database), bus);
    const { id } = await here.create({ taskType: 'kept', prompt: 'one' });
    for (const prompt of ['one', 'two', 'three']) {
      await here.update(String(id), { prompt });
      expect([await here.living('kept'), await there.living('kept')]).toMatchObject([{ prompt }, { prompt }]);
    }
    await there.remove(String(id));
    expect([await here.living('kept'), await there.living('kept')]).toEqual([null, null]);
    await bus.close();
  });

  it('never lists a deleted template but still reads it by id', async () => {
    const gone = await templates.create({ taskType: 'gone' });
    await templates.remove(String(gone.id));
    await expect(templates.remove(String(gone.id))).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(templates.update(String(gone.id), { prompt: 'x' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
    expect((await templates.page({ ...everything, taskType: 'gone' })).total).toBe(0);
    expect(await templates.living('gone')).toBeNull();
    const [read, none, bad] = await templates.byIds([String(gone.id), '999999', 'no id']);
    expect(read?.taskType).toBe('gone');
    expect([none, bad]).toEqual([null, null]);
  });

  it('does not bring a deleted bundled template back', async () => {
    const { items } = await templates.page({ ...everything, taskType: 'lady' });
    await templates.remove(String(items[0]?.id));
    await templates.importBundled();
    expect(await templates.living('lady')).toBeNull();
  });

  it('pages by id, filters by category, and answers an empty page past the end', async () => {
    const all = await templates.page(everything);
    const second = await templates.page({ ...everything, page: 2, pageSize: 2 });
    expect(second.items).toEqual(all.items.slice(2, 4));
    expect((await templates.page({ ...everything, page: 99 })).items).toEqual([]);
    const category = await templates.page({ ...everything, category: 'food' });
    expect(category.items.map(({ taskType }) => taskType)).toEqual(['chop']);
    expect((await templates.page({ ...everything, category: '全部' })).total).toBe(all.total);
    expect((await templates.page({ ...everything, category: "'; drop" })).total).toBe(0);
  });

  it('names the field of what it refuses', async () => {
    const refusals = [
      templates.create({ taskType: ' ' }),
      templates.create({ taskType: 'nul\0' }),
      templates.page({ ...everything, page: 0 }),
      templates.page({ ...everything, pageSize: 1001 }),
      templates.create({ taskType: 'long', prompt: 'x'.repeat(20_001) }),
      templates.create({ taskType: 'nul', fields: { a: 'b\0' } }),
    ];
    const results = await Promise.allSettled(refusals);
    const fields = results.map((result) => (result.status === 'rejected' ? result.reason.field : 'none'));
    expect(fields).toEqual(['taskType', 'taskType', 'page', 'pageSize', 'prompt', 'fields']);
  });
});
