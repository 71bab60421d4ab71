import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { badInput } from '../errors.ts';
import { silentLogger } from '../process/logger.ts';
import { createDatabase, type Database } from './database.ts';
import { createLateReads, type LateReads } from './late-reads.ts';
import { startStandbyPair, type StandbyPair } from './standby.fixture.ts';

let pair: StandbyPair;
let primary: Database;
let standby: Database;

beforeAll(async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'kiln-standby-'));
  await chmod(folder, 0o755);
  pair = await startStandbyPair(folder);
  primary = open(pair.primary);
  standby = open(pair.standby);
  await primary.pool.query('create table lines (line text)');
});
afterAll(async () => {
  await primary?.close();
  await standby?.close();
  await pair?.close();
});

function open(config: { readonly connectionString: string }): Database {
  const logger = silentLogger();
  return createDatabase({
    config,
    maxConnections: 4,
    applicationName: 'test',
    statementTimeoutMs: 1_000,
    logger,
  });
}

const createReads = (maxLateMs: number, at: Database | null = standby): LateReads =>
  createLateReads({ primary, standby: at, maxLateMs, logger: silentLogger() });

/** Where a read is done. */
const readPlace = async (reads: LateReads): Promise<string> =>
  reads.read(async ({ pool }) => {
    const { rows } = await pool.query<{ isStandby: boolean }>(
      'select pg_is_in_recovery() as "isStandby", count(*) from lines',
    );
    return rows[0]?.isStandby === true ? 'standby' : 'primary';
  });

it('reads the standby while that is late by no more than the bound, and the primary else', async () => {
  const reads = createReads(1_000);
  // Nothing is known of it before it was looked at.
  expect(await readPlace(reads)).toBe('primary');
  await expect.poll(() => readPlace(reads)).toBe('standby');
  await pair.pause();
  await primary.pool.query(`insert into lines values ('written while the standby applies nothing')`);
  await expect.poll(() => readPlace(reads)).toBe('primary');
  await pair.resume();
  await expect.poll(() => readPlace(reads)).toBe('standby');
});

it('never reads what lacks more than the bound, however the standby lags', async () => {
  const maxLateMs = 1_000;
  const reads = createReads(maxLateMs);
  await expect.poll(() => readPlace(reads)).toBe('standby');
  await pair.pause();
  await primary.pool.query(`insert into lines values ('bound')`);
  const written = performance.now();
  const found = async (): Promise<number> =>
    reads.read(
      async ({ pool }) => (await pool.query(`select 1 from lines where line = 'bound'`)).rowCount ?? 0,
    );
  const lacked = [0];
  while (performance.now() - written < 3 * maxLateMs) {
    const begun = performance.now();
    if ((await found()) === 0) lacked.push(begun - written);
    // Read after read would only keep both servers busy.
    await pause(10);
  }
  expect(Math.max(...lacked)).toBeLessThanOrEqual(maxLateMs);
  await pair.resume();
});

it('reads the primary while the standby is away, and the standby when it is back', async () => {
  const reads = createReads(2_000);
  await expect.poll(() => readPlace(reads)).toBe('standby');
  await pair.stopStandby();
  for (let count = 0; count < 5; count += 1) expect(await readPlace(reads)).toBe('primary');
  await pair.startStandby();
  await expect.poll(() => readPlace(reads)).toBe('standby');
});

it('passes on what a read refuses, and does not ask twice', async () => {
  const reads = createReads(2_000);
  await expect.poll(() => readPlace(reads)).toBe('standby');
  let asked = 0;
  const refusal = reads.read(async () => {
    asked += 1;
    throw badInput('first', 'must be smaller');
  });
  await expect(refusal).rejects.toMatchObject({ code: 'BAD_USER_INPUT' });
  expect(asked).toBe(1);
});

it('reads the primary where there is no standby, or what is named is none', async () => {
  expect(await readPlace(createReads(1_000, null))).toBe('primary');
  const reads = createReads(60_000, primary);
  for (let count = 0; count < 3; count += 1) expect(await readPlace(reads)).toBe('primary');
});
