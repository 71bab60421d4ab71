import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterEach, beforeEach, expect, test } from 'vitest';

import { acquireInstanceLock, tryInstanceLock } from './instance-lock.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'kiln-lock-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

/** A process that tries to take the lock, says whether it could, and stays. */
async function otherProcess(): Promise<{ said: string; kill: () => Promise<void> }> {
  const module = fileURLToPath(new URL('instance-lock.ts', import.meta.url));
  const script = `import { tryInstanceLock } from ${JSON.stringify(module)};
    const release = tryInstanceLock({ dataDir: ${JSON.stringify(dataDir)}, name: 'kiln' });
    process.stdout.write(release ? 'has it' : 'does not');
    setInterval(() => release, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
  return {
    said: chunk.toString(),
    kill: async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
  };
}

test('lets one in, and the next after it was given back', () => {
  const release = acquireInstanceLock({ dataDir, name: 'kiln' });
  expect(tryInstanceLock({ dataDir, name: 'kiln' })).toBeUndefined();
  release();
  release();
  const again = acquireInstanceLock({ dataDir, name: 'kiln' });
  again();
});

test('says who is in, and where', () => {
  const release = acquireInstanceLock({ dataDir, name: 'kiln' });
  expect(() => acquireInstanceLock({ dataDir, name: 'kiln' })).toThrow(
    expect.objectContaining({
      code: 'CONFLICT',
      message: expect.stringMatching(new RegExp(`^${dataDir} is in use .*process ${process.pid}`)),
    }),
  );
  release();
});

test('says that somebody is in whose note can not be read', () => {
  const release = acquireInstanceLock({ dataDir, name: 'kiln' });
  const note = join(dataDir, 'kiln.lock.pid');
  for (const text of ['', 'x', '-1', '1.5', '0']) {
    writeFileSync(note, text);
    expect(() => acquireInstanceLock({ dataDir, name: 'kiln' })).toThrow('(process unknown)');
  }
  rmSync(note);
  expect(() => acquireInstanceLock({ dataDir, name: 'kiln' })).toThrow('(process unknown)');
  mkdirSync(note);
  expect(() => acquireInstanceLock({ dataDir, name: 'kiln' })).toThrow('EISDIR');
  release();
});

test('says UNAVAILABLE where there is something else in the place of the lock', () => {
  writeFileSync(join(dataDir, 'kiln.lock'), 'something else '.repeat(100));
  expect(() => tryInstanceLock({ dataDir, name: 'kiln' })).toThrow(
    expect.objectContaining({
      code: 'UNAVAILABLE',
      message: `cannot lock ${dataDir}: file is not a database`,
      cause: expect.any(Error),
    }),
  );
});

test('keeps locks of different names and directories apart', () => {
  const release = [
    acquireInstanceLock({ dataDir, name: 'one' }),
    acquireInstanceLock({ dataDir, name: 'two' }),
    acquireInstanceLock({ dataDir: join(dataDir, 'deeper', 'still'), name: 'one' }),
  ];
  expect(release).toHaveLength(3);
  for (const each of release) each();
});

test('holds against other processes, and ends with a process that is killed', async () => {
  const release = acquireInstanceLock({ dataDir, name: 'kiln' });
  const late = await otherProcess();
  expect(late.said).toBe('does not');
  await late.kill();
  release();
  const holder = await otherProcess();
  expect(holder.said).toBe('has it');
  expect(tryInstanceLock({ dataDir, name: 'kiln' })).toBeUndefined();
  await holder.kill();
  const after = tryInstanceLock({ dataDir, name: 'kiln' });
  expect(after).toBeDefined();
  after?.();
});
