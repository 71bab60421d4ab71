import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { startFixtureServer } from './server.ts';

/**
 * `npm run conformance` holds the MCP endpoint to the protocol's own suite, in both versions. npx fetches the suite, so this
 * needs the network once; installation scripts are not run.
 */

const SUITE = '@modelcontextprotocol/conformance@0.2.0-alpha.12';
const VERSIONS = ['2026-07-28', '2025-11-25'];

/** Runs the suite; true when nothing failed but what is not offered (not-offered-*.yml). */
async function holds(url: string, version: string, folder: string): Promise<boolean> {
  const known = path.join(import.meta.dirname, `not-offered-${version}.yml`);
  const words = ['server', '--url', url, '--requirements', version, '--expected-failures', known];
  const child = spawn('npx', ['--yes', '--ignore-scripts', SUITE, ...words], {
    cwd: folder,
    stdio: 'inherit',
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('exit', resolve);
  });
  return code === 0;
}

const folder = await mkdtemp(path.join(tmpdir(), 'kiln-conformance-'));
const server = await startFixtureServer();
try {
  for (const version of VERSIONS) {
    process.stdout.write(`\n${version}\n`);
    if (!(await holds(server.url, version, folder))) process.exitCode = 1;
  }
} finally {
  server.close();
  await rm(folder, { recursive: true, force: true });
}
