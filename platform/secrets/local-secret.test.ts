import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { localSecret } from './local-secret.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'kiln-secret-'));
});

afterEach(() => rm(directory, { recursive: true, force: true }));

test('is made once, by one of many that start together, and kept for its user only', async () => {
  const found = await Promise.all(Array.from({ length: 8 }, () => localSecret({ directory, name: 'key' })));
  expect(new Set(found.map(({ secret }) => secret)).size).toBe(1);
  expect(found.filter(({ isNew }) => isNew)).toHaveLength(1);
  expect((await stat(path.join(directory, 'key'))).mode & 0o777).toBe(0o600);
  expect(await localSecret({ directory, name: 'key' })).toEqual({ secret: found[0]?.secret, isNew: false });
});

test('is not guessed when its file holds something else', async () => {
  await writeFile(path.join(directory, 'key'), '');
  await expect(localSecret({ directory, name: 'key' })).rejects.toThrow('does not hold a secret');
});
