import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterAll, expect, it } from 'vitest';

import type { Config } from '../config/config.ts';
import { createLifecycle } from '../process/lifecycle.ts';
import { createLogger } from '../process/logger.ts';
import { openData } from './open-data.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'kiln-open-data-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** A process of a role over a data directory. */
function createParts(role: string, dir: string, databaseUrl: string | null = 'postgres://db/kiln') {
  const lines: string[] = [];
  const logger = createLogger({ level: 'info', destination: { write: (line) => void lines.push(line) } });
  const lifecycle = createLifecycle({ logger, graceMs: 1_000 });
  const config = { role, data: { dir, databaseUrl } } as unknown as Config;
  return { config, logger, lifecycle, lines };
}

it('is for one whole Kiln at a time, until it stops', async () => {
  const dir = path.join(folder, 'one');
  const first = createParts('all', dir);
  const { connection } = openData(first);
  expect(await connection).toEqual({ connectionString: 'postgres://db/kiln' });
  expect(() => openData(createParts('all', dir))).toThrow('in use by another running Kiln');
  await first.lifecycle.stop('the test ends');
  const next = createParts('all', dir);
  await openData(next).connection;
  await next.lifecycle.stop('the test ends');
});

it('is for several processes of another role', async () => {
  const dir = path.join(folder, 'several');
  const both = [createParts('media', dir), createParts('worker', dir)];
  const opened = await Promise.all(both.map((parts) => openData(parts).connection));
  const there = { connectionString: 'postgres://db/kiln' };
  expect(opened).toEqual([there, there]);
});

it('leaves it to whoever connects that the database does not start, and has nothing to stop then', async () => {
  const file = path.join(folder, 'file');
  writeFileSync(file, '');
  const parts = createParts('worker', path.join(file, 'below'), null);
  const unheard: unknown[] = [];
  const hear = (thrown: unknown) => void unheard.push(thrown);
  process.on('unhandledRejection', hear);
  const { connection } = openData(parts);
  await parts.lifecycle.stop('the test ends');
  // What nobody has heard of is told at the end of a turn.
  await new Promise((resolve) => setImmediate(resolve));
  process.off('unhandledRejection', hear);
  expect(unheard).toEqual([]);
  await expect(connection).rejects.toThrow('ENOTDIR');
  expect(parts.lines.join('')).not.toContain('did not stop cleanly');
});
