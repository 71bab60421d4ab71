import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import type { ProcessParts } from '../../platform/runtime/run-process.ts';

const SCRIPT = fileURLToPath(new URL('../../console/build.ts', import.meta.url));

/**
 * Builds the console in a process of its own, when it is missing or older than its sources. The API does not wait for it;
 * the page says meanwhile that it is being built. Without the console's sources (an image) nothing is done.
 */
export function buildConsole(
  { logger, lifecycle }: Pick<ProcessParts, 'logger' | 'lifecycle'>,
  script = SCRIPT,
): void {
  if (!existsSync(script)) return;
  const child = spawn(process.execPath, [script, '--if-stale'], { stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output = `${output}${chunk.toString()}`.slice(-4_000);
    });
  }
  const ended = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      logger.warn({ error }, 'the console could not be built');
      resolve();
    });
    child.once('close', (code) => {
      if (code === 0) logger.debug({ output }, 'the console is built');
      // Below 0 it was never started, which has been said.
      else if (code !== null && code > 0)
        logger.warn({ output }, 'the console could not be built: npm run console');
      resolve();
    });
  });
  lifecycle.add('build of the console', async () => {
    child.kill();
    await ended;
  });
}
