import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

import { expect, it } from 'vitest';

import { readIdentity } from './process-table.ts';

/** Starts a process in a group of its own, as tests start a sandbox, says its id, and never ends by itself. */
const TEST_PROCESS = `
  const { ownWhatStarts } = await import(${JSON.stringify(path.join(import.meta.dirname, 'owner.ts'))});
  const { spawn } = await import('node:child_process');
  ownWhatStarts();
  console.log(spawn('sleep', ['600'], { detached: true, stdio: 'ignore' }).pid);
  setInterval(() => {}, 1_000);
`;

it.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)(
  'ends what a test process started when that ends by %s',
  async (signal) => {
    const owner = spawn(process.execPath, ['--input-type=module', '-e', TEST_PROCESS], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(owner.stdout, 'data')) as [Buffer];
    const started = Number(line.toString());
    expect(readIdentity(started)).toBeDefined();
    owner.kill(signal);
    // The reaper of this very run ends it.
    await expect.poll(() => readIdentity(started)).toBeUndefined();
  },
);
