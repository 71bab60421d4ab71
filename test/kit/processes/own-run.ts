import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { OWNER, ownWhatStarts, RUN } from './owner.ts';

/** Before the first test: the test processes end with this run, and so does what they start. Linux only: /proc. */
export default function setup(): void {
  ownWhatStarts();
  const { [OWNER]: run, ...env } = process.env;
  // Each project of vitest calls this.
  if (run === undefined || process.env[RUN] === run) return;
  process.env[RUN] = run;
  const reaper = fileURLToPath(new URL('reaper.ts', import.meta.url));
  spawn(process.execPath, [reaper, run], { detached: true, stdio: 'ignore', env }).unref();
}
