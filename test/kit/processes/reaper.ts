import { setTimeout as pause } from 'node:timers/promises';

import { killOrphans } from './owner.ts';
import { readIdentity } from './process-table.ts';

/**
 * Ends what an interrupted test run would leave behind, as a program: `reaper.ts <identity of the run>`. In a process group
 * of its own, so that neither Ctrl-C nor a kill of the run reaches it; it ends when the run has and nothing of it is left.
 */
const [run = ''] = process.argv.slice(2);
const POLL_INTERVAL_MS = 2_000;
const isRunning = (): boolean => readIdentity(Number(run.split(':', 1)[0])) === run;
for (;;) {
  // Asked before looking: what a run that ends meanwhile has left is found at the next look.
  const goesOn = isRunning();
  if (killOrphans(run) === 0 && !goesOn) break;
  await pause(POLL_INTERVAL_MS);
}
