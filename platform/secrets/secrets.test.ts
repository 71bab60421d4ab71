import { mkdtemp, rm, stat, writeFile, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterEach, beforeEach, expect, test, afterAll, beforeAll, describe, it } from 'vitest';

import { readConfig } from '../config/config.ts';
import { localSecret, webhookSecret } from './secrets.ts';

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

let DATA_DIR: string;
beforeAll(async () => {
  DATA_DIR = await mkdtemp(path.join(tmpdir(), 'kiln-secret-'));
});
afterAll(() => rm(DATA_DIR, { recursive: true, force: true }));

describe('the secret of webhooks', () => {
  it('is the setting where there is one', async () => {
    const WEBHOOK_SECRET = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
    expect(await webhookSecret(readConfig({ DATA_DIR, WEBHOOK_SECRET }))).toBe(WEBHOOK_SECRET);
  });

  it('is made at the first start, kept in the data directory, and the same ever after', async () => {
    const config = readConfig({ DATA_DIR });
    const made = await webhookSecret(config);
    const kept = await readFile(path.join(DATA_DIR, 'webhook-secret'), 'utf8');
    expect(made).toBe(`whsec_${Buffer.from(kept, 'hex').toString('base64')}`);
    expect(await webhookSecret(config)).toBe(made);
  });

  it('is the same in processes that share nothing but INTERNAL_KEY', async () => {
    const readSecret = (key: string, folder: string) =>
      webhookSecret(readConfig({ INTERNAL_KEY: key.repeat(32), DATA_DIR: path.join(DATA_DIR, folder) }));
    const one = await readSecret('a', 'one');
    expect(one).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(await readSecret('a', 'two')).toBe(one);
    expect(await readSecret('b', 'two')).not.toBe(one);
  });
});
