import { describe, expect, it } from 'vitest';

import type { JsonObject } from '../../platform/json.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import type { ResultCopier } from './copy-results.ts';
import { createEndedAnswers } from './store-ended.ts';
import type { StoredAnswers } from './stored-answers.ts';

const target = { service: 'media', operation: 'GET /api/task/status/{task_id}', id: 'a' } as const;
const old = { status: true, data: { url: 'http://old/a' } };
const copied = { status: true, data: { url: 'http://kiln/a' } };

function world(copy: ResultCopier['copy']) {
  const rows = new Map<string, { body: JsonObject; hasCopies: boolean }>();
  let copies = 0;
  const stored: StoredAnswers = {
    find: async (_, id) => rows.get(id) ?? null,
    save: async ({ id, body, hasCopies }) => void rows.set(id, { body, hasCopies }),
  };
  const copier: ResultCopier = {
    copy(body) {
      copies += 1;
      return copy(body);
    },
  };
  const ended = createEndedAnswers({ stored, copier, logger: silentLogger(), maxWaitMs: 20 });
  return { ended, rows, copies: () => copies };
}

describe('answers that have ended', () => {
  it('are stored with copies, which several readers at once make once', async () => {
    const { ended, rows, copies } = world(async () => ({ body: copied, isComplete: true }));
    const answers = await Promise.all([ended.store(target, old), ended.store(target, old)]);
    expect(answers).toEqual([copied, copied]);
    expect([copies(), rows.get('a')]).toEqual([1, { body: copied, hasCopies: true }]);
    expect(await ended.find(target)).toEqual(copied);
  });

  it('get their copies at a read when an import stored them without', async () => {
    const { ended, rows } = world(async () => ({ body: copied, isComplete: true }));
    rows.set('a', { body: old, hasCopies: false });
    expect(await ended.find(target)).toEqual(copied);
    expect(rows.get('a')).toEqual({ body: copied, hasCopies: true });
  });

  it('come as they were when copying takes long, and are stored when it is done', async () => {
    let finish: (value: { body: JsonObject; isComplete: boolean }) => void = () => undefined;
    const { ended, rows } = world(() => new Promise((resolve) => (finish = resolve)));
    expect(await ended.store(target, old)).toEqual(old);
    finish({ body: copied, isComplete: true });
    await expect.poll(() => rows.get('a')).toEqual({ body: copied, hasCopies: true });
  });

  it('leave an old storage that is away alone for a while', async () => {
    const { ended, rows, copies } = world(async (body) => ({ body, isComplete: false }));
    expect(await ended.store(target, old)).toEqual(old);
    expect(rows.get('a')).toEqual({ body: old, hasCopies: false });
    expect(await ended.find(target)).toEqual(old);
    expect(copies()).toBe(1);
  });

  it('are answered though they can not be stored, or be read back', async () => {
    const broken: StoredAnswers = {
      find: () => Promise.reject(new Error('the database is away')),
      save: () => Promise.reject(new Error('the database is away')),
    };
    const copier: ResultCopier = { copy: async () => ({ body: copied, isComplete: true }) };
    const ended = createEndedAnswers({ stored: broken, copier, logger: silentLogger() });
    expect(await ended.store(target, old)).toEqual(old);
    expect(await ended.find(target)).toBeNull();
  });

  it('of which too many come at once are answered as they are, and stored at another read', async () => {
    let finish: () => void = () => undefined;
    const copying = new Promise<void>((resolve) => (finish = resolve));
    const { ended, rows, copies } = world(() => copying.then(() => ({ body: copied, isComplete: true })));
    const ids = Array.from({ length: 9 }, (_, index) => `a-${index}`);
    const answers = await Promise.all(ids.map((id) => ended.store({ ...target, id }, old)));
    expect([answers, copies()]).toEqual([ids.map(() => old), 8]);
    finish();
    await expect.poll(() => rows.size).toBe(8);
    expect(await ended.store({ ...target, id: 'a-8' }, old)).toEqual(copied);
  });
});
