import { describe, expect, it } from 'vitest';

import { sections } from '../../rest-compat/tables.ts';
import { createIdPairs } from './compare.ts';
import { findDifferences } from './differences.ts';
import { createFindOperation } from './operations.ts';

const answer = (json: unknown, headers: Record<string, string> = {}, status = 200) => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  json,
});

describe('findDifferences', () => {
  it('compares names and types, and ids, times and addresses by shape only', () => {
    const old = { status: true, data: { id: 'a', at: '2024-01-01T00:00:00Z', url: 'http://a/1', n: 1 } };
    const now = { status: true, data: { id: 'b', at: '2025-01-01T00:00:00.5Z', url: 'https://b/2', n: 7 } };
    expect(findDifferences(answer(old), answer(now))).toEqual([]);
    const other = { status: true, data: { id: 5, at: 'today', n: '1' } };
    expect(findDifferences(answer(old), answer(other))).toEqual([
      'data.id is a number here, a text there',
      'data.at is a text here, a time there',
      'data.url is absent here',
      'data.n is a text here, a number there',
    ]);
  });

  it('takes an answer that is no JSON here for another one', () => {
    expect(findDifferences(answer({ a: 1 }), answer(undefined))).toEqual(['the body is no JSON here']);
    expect(findDifferences(answer(undefined), answer({ a: 1 }))).toEqual([]);
  });

  it('lets fields be added, and says nothing about what is null there', () => {
    expect(findDifferences(answer({ a: null }), answer({ a: 1, b: 2 }))).toEqual([]);
    expect(findDifferences(answer({ a: 1 }), answer({ a: null }))).toEqual([
      'a is null here, a number there',
    ]);
  });

  it('compares words, items of lists, status, type and the headers that clients read', () => {
    expect(findDifferences(answer({ status: 'processing' }), answer({ status: 'running' }))).toEqual([
      'status is "running" here, "processing" there',
    ]);
    const limited = answer({}, { 'retry-after': '3' }, 429);
    expect(findDifferences(limited, { status: 200, headers: {}, json: undefined })).toEqual([
      'status is 200 here, 429 there',
      'content-type is absent here, application/json there',
      'header retry-after is absent here',
    ]);
  });
});

describe('findDifferences lists', () => {
  const list = (...items: unknown[]) => answer({ data: { items, total: items.length } });

  it('takes lists of other lengths and contents for equal when their items have one shape', () => {
    const old = list({ id: 'a', note: null, status: 'completed' }, { id: 'b', note: 'x', status: 'failed' });
    const now = list({ id: 'c', note: null, status: 'pending', more: 1 });
    expect(findDifferences(old, now)).toEqual([]);
    expect(findDifferences(list(), list({ id: 1 }))).toEqual([]);
  });

  it('finds what any item here lacks, has of another type, or writes in another way', () => {
    const old = list(
      { id: 'a', cost: 1, templateType: 'IMAGE' },
      { id: 'b', cost: 2, templateType: 'VIDEO' },
    );
    const now = list({ id: 'c', cost: 3, templateType: 'IMAGE' }, { id: 4, templateType: 'video' });
    expect(findDifferences(old, now)).toEqual([
      'data.items[].id is a number here, a text there',
      'data.items[].cost is absent in some items here',
      'data.items[].templateType is "video" here, "IMAGE" or "VIDEO" there',
    ]);
    expect(findDifferences(answer([{ a: 1 }, { b: 2 }]), answer([{ a: 3 }]))).toEqual([
      '[].b is absent here',
    ]);
    expect(findDifferences(old, list())).toEqual(['data.items is an empty list here, not there']);
  });
});

describe('createFindOperation', () => {
  it.each([
    ['GET', '/api/task/status/x', 'read'],
    ['POST', '/api/agg/imga/video/async/task/status', 'read'],
    ['POST', '/api/vidb/async/generate/video', 'start'],
    ['POST', '/task', 'start'],
    ['POST', '/api/template/create', 'write'],
    ['GET', '/templates/init', 'write'],
    ['GET', '/templates/sync-all-pp', 'write'],
    ['GET', '/payment/success', 'write'],
    ['POST', '/payment/checkout/x', 'write'],
    ['POST', '/auth/idp/refresh', 'write'],
    ['GET', '/auth/idp/callback', 'write'],
  ])('%s %s is a %s', (method, path, effect) => {
    expect(createFindOperation(sections)(method, path)?.effect).toBe(effect);
  });
});

describe('createIdPairs', () => {
  it("asks for what a start made by the new side's id", () => {
    const ids = createIdPairs();
    ids.learn({ status: true, data: 'old 1' }, { status: true, data: 'new-1' });
    ids.learn({ data: { taskId: 'old-2' } }, { data: { taskId: 'new-2' } });
    expect(ids.translate('/api/task/status/old%201')).toBe('/api/task/status/new-1');
    expect(ids.translate('/a/status?task_id=old-2&x=old-22')).toBe('/a/status?task_id=new-2&x=old-22');
  });
});
