import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

import { temporaryFolder } from '../../test/topology/places.ts';
import { startLoad } from '../chaos/load.ts';
import { keepLogs, printFindings } from '../chaos/report.ts';
import { startTopology, type Topology } from '../chaos/topology.ts';
import { verify } from '../chaos/verify/verify.ts';
import { readOptions } from './options.ts';
import { checkOut, previousRelease } from './previous.ts';

/**
 * The release before this one and this one side by side over one database, under load: `npm run upgrade -- --from v1.2.0
 * --minutes 1`. Part by part is stopped as planned and started from the other version, in each order of roles, and back.
 * Without --from it is the newest tag; where there is none, nothing is run. Ends with 1 when anything is wrong.
 */
const options = readOptions(process.argv.slice(2));
const say = (text: string) => void process.stdout.write(`${text}\n`);

const from = options.from ?? previousRelease();
if (from === null) {
  say(
    'skipped: this clone knows no tag of a release (v1.2.3). Fetch the tags, or name a commit: --from COMMIT',
  );
  process.exit(0);
}
const folder = await temporaryFolder();
const before = path.join(folder.path, 'before');
let isRight = true;
try {
  checkOut(from, before);
  for (const [name, { parts, isBack }] of options.orders) {
    say(`\n${from} and this version, ${name}`);
    // oxlint-disable-next-line eslint/no-await-in-loop -- one order after the other
    isRight = (await replaceAll(parts, isBack)) && isRight;
  }
} finally {
  await folder.remove();
}
process.exit(isRight ? 0 : 1);

async function replaceAll(parts: readonly string[], isBack: boolean): Promise<boolean> {
  const now = path.resolve(import.meta.dirname, '../..');
  // Whoever goes back has been at the new version: its migrations are done.
  const topology = await startTopology({ checkout: isBack ? now : before });
  const abort = () => void topology.close().finally(() => process.exit(130));
  process.once('SIGINT', abort).once('SIGTERM', abort);
  try {
    const load = await startLoad(topology.gateways, options.pauseMs);
    await topology.sandbox.latency({ queuedMs: 0, runningMs: 2_000 });
    await replaceUnderLoad(topology, parts, isBack ? before : now);
    await load.finish();
    const { database, sandbox, gateways } = topology;
    const verified = { rows: database.rows, sandboxUrl: sandbox.url, gatewayUrl: gateways[1] };
    return printFindings(await verify(verified, load.seen), load.seen, say);
  } finally {
    if (options.logs !== undefined) keepLogs(topology, options.logs);
    await topology.close();
    process.off('SIGINT', abort).off('SIGTERM', abort);
  }
}

async function replaceUnderLoad(
  topology: Topology,
  parts: readonly string[],
  checkout: string,
): Promise<void> {
  const begun = performance.now();
  const lastsMs = options.minutes * 60_000;
  for (const [index, part] of parts.entries()) {
    // oxlint-disable-next-line eslint/no-await-in-loop -- one part after the other, spread over the time
    await pause(Math.max(0, begun + (lastsMs * (index + 1)) / (parts.length + 1) - performance.now()));
    say(`${String(Math.round((performance.now() - begun) / 1000)).padStart(4)} s  ${part}`);
    // oxlint-disable-next-line eslint/no-await-in-loop
    await topology.end(part, 'SIGTERM');
    // oxlint-disable-next-line eslint/no-await-in-loop
    await topology.start(part, checkout);
  }
  await pause(Math.max(0, begun + lastsMs - performance.now()));
}
