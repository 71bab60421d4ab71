import { afterAll, expect, it, vi } from 'vitest';

import { startEverything } from '../../gateway/composition/everything.ts';
import { until } from '../kit/clients/requests.ts';
import { migratedDatabase } from '../kit/database/migrated.ts';
import { startRelay } from '../kit/database/relay.ts';
import { extent, isWhole } from '../kit/extent.ts';
import {
  type KilnProcessOptions,
  settingsOf,
  spawnKiln,
  temporaryDataDir,
} from '../kit/processes/kiln-process.ts';
import { startInside } from '../topology/inside.ts';

/** A database that hangs while Kiln starts, longer than any statement may take. */

vi.setConfig({ testTimeout: 120_000 });

/** A statement is given up after 3 s then (QUERY_TIMEOUT and two), LISTEN after 5. */
const SETTINGS = { QUERY_TIMEOUT: '1' };
const HELD_MS = 6_000;

/** What is sent at each step of a start that needs the database. */
const STEPS = {
  'the migrations': 'pg_advisory',
  'the event bus': 'listen "kiln"',
  'the queue': 'from queue.queues',
  'what is paused': '"paused_bindings"',
  'the queues of the bindings': 'insert into queue.queues',
  'the bundled video templates': '"video_templates"',
  'the bundled templates': '"workflow"."templates"',
  "the console's login code": '"login_codes"',
} as const;

const undo: (() => void | Promise<void>)[] = [];
afterAll(async () => {
  for (const one of undo.splice(0).toReversed()) await one();
});

async function startHeldAt(text: string) {
  const database = await migratedDatabase();
  const relay = await startRelay(database);
  const { dataDir, remove } = await temporaryDataDir();
  relay.holdAt(text, HELD_MS);
  undo.push(
    () => database.drop(),
    () => relay.stop(),
    remove,
  );
  const kiln = await start({ dataDir, settings: { ...SETTINGS, DATABASE_URL: relay.url } });
  return { kiln, relay };
}

/** Inside the test's process in `npm test`, and waits until it serves. */
async function start(options: KilnProcessOptions): Promise<{ readonly url: string; output(): string }> {
  if (isWhole) {
    const kiln = spawnKiln(options);
    undo.push(() => kiln.stop());
    return { url: await kiln.ready, output: () => kiln.output() };
  }
  const { started, output, end } = await startInside(startEverything, settingsOf(options), []);
  undo.push(end);
  return { url: started.url, output };
}

/** One of them, or all. */
const steps = Object.entries(STEPS).filter((_, index) => index % extent(8, 1) === 0);

it.concurrent.each(steps)('waits when it hangs at %s, and serves when it does not', async (_, text) => {
  const { kiln, relay } = await startHeldAt(text);
  expect(relay.hasHeld()).toBe(true);
  // Its checks wait a second at most for a connection, which others of these starts may take.
  await until(
    () => fetch(`${kiln.url}/readyz`),
    ({ status }) => status === 200,
  );
  expect(kiln.output()).toContain('the database is away: the start waits for it');
});
