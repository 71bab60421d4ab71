import { afterAll, beforeAll, expect, it } from 'vitest';

import { graphql, until } from '../kit/clients/requests.ts';
import { migratedDatabase } from '../kit/database/migrated.ts';
import type { TestDatabase } from '../kit/database/postgres.ts';
import { startRelay, type DatabaseRelay } from '../kit/database/relay.ts';
import { startSplitKiln, type SplitKiln } from './split.ts';

/** A database that takes connections and says nothing more, as one whose disk or machine hangs. */

let database: TestDatabase;
let relay: DatabaseRelay;
let kiln: SplitKiln;
beforeAll(async () => {
  database = await migratedDatabase();
  relay = await startRelay(database);
  kiln = await startSplitKiln({ DATABASE_URL: relay.url, QUERY_TIMEOUT: '40' });
});
afterAll(async () => {
  relay?.release();
  await kiln?.close();
  relay?.stop();
  await database?.drop();
});

/** Two seconds and what a busy machine adds. Less than QUERY_TIMEOUT, so that no timeout of a statement is the reason. */
const IN_TIME_MS = 30_000;

const ROLES = ['gateway', 'media', 'workflow', 'worker'] as const;

async function readiness(origin: string) {
  const askedAt = performance.now();
  const response = await fetch(`${origin}/readyz`);
  const { failing } = (await response.json()) as { readonly failing: readonly string[] };
  return { status: response.status, failing, inTime: performance.now() - askedAt < IN_TIME_MS };
}

const lacks = (...failing: string[]) => ({ status: 503, failing, inTime: true });

it('every role says sooner than a statement times out that its database hangs, and is ready again when it does not', async () => {
  const origins = ROLES.map((role) => kiln.findOrigin(role));
  const well = await Promise.all(origins.map(readiness));
  expect(well.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  relay.hold();
  const [gateway, ...others] = await Promise.all(origins.map(readiness));
  expect(gateway).toMatchObject({ status: 503, inTime: true });
  expect(gateway?.failing).toEqual(expect.arrayContaining(['media', 'workflow']));
  expect(others).toEqual([lacks('database'), lacks('database'), lacks('database')]);

  const { errors } = await graphql(
    kiln.url,
    '{ task(id: "0199d000-0000-7000-8000-000000000000") { state } }',
    {},
  );
  expect(errors?.[0]?.extensions).toMatchObject({ code: 'UNAVAILABLE' });
  relay.release();
  await until(
    () => Promise.all(origins.map(readiness)),
    (all) => all.every(({ status }) => status === 200),
  );
});
