import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { graphql, until } from '../kit/clients/requests.ts';
import { migratedDatabase } from '../kit/database/migrated.ts';
import type { TestDatabase } from '../kit/database/postgres.ts';
import { startSplitKiln, type SplitKiln } from './split.ts';

/** A database that takes connections and says nothing more, as one whose disk or machine hangs. */

let database: TestDatabase;
let relay: Awaited<ReturnType<typeof startRelay>>;
let kiln: SplitKiln;
beforeAll(async () => {
  database = await migratedDatabase();
  relay = await startRelay(database);
  const { user, database: name } = database.config;
  kiln = await startSplitKiln({
    DATABASE_URL: `postgresql://${user}@127.0.0.1:${relay.port}/${name}`,
    QUERY_TIMEOUT: '8',
  });
});
afterAll(async () => {
  relay?.release();
  await kiln?.close();
  relay?.stop();
  await database?.drop();
});

/** Hands connections on to the database, until it is held. */
async function startRelay({ config }: TestDatabase) {
  const sockets = new Set<Socket>();
  let isHeld = false;
  const server = createServer((near) => {
    const far = connect(`${config.host}/.s.PGSQL.${config.port}`);
    for (const [from, to] of [[near, far] as const, [far, near] as const]) {
      sockets.add(from);
      from.on('error', () => undefined);
      from.on('data', (chunk: Buffer) => void to.write(chunk));
      from.once('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      if (isHeld) from.pause();
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    hold() {
      isHeld = true;
      for (const socket of sockets) socket.pause();
    },
    release() {
      isHeld = false;
      for (const socket of sockets) socket.resume();
    },
    stop: () => void server.close(),
  };
}

/** Two seconds and what a busy machine adds. Less than QUERY_TIMEOUT, so that no timeout of a statement is the reason. */
const IN_TIME_MS = 6_000;

const ROLES = ['gateway', 'media', 'workflow', 'worker'] as const;

async function readiness(origin: string) {
  const askedAt = performance.now();
  const response = await fetch(`${origin}/readyz`);
  const { failing } = (await response.json()) as { readonly failing: readonly string[] };
  return { status: response.status, failing, inTime: performance.now() - askedAt < IN_TIME_MS };
}

const lacks = (...failing: string[]) => ({ status: 503, failing, inTime: true });

it('every role says sooner than a statement times out that its database hangs, and is ready again when it does not', async () => {
  const origins = ROLES.map((role) => kiln.originOf(role));
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
