import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { afterEach, beforeEach, expect, it } from 'vitest';

import { createLifecycle } from '../../platform/process/lifecycle.ts';
import { createLogger } from '../../platform/process/logger.ts';
import { buildConsole } from './build-console.ts';

/** The build is a program of the test's, which a process of its own runs. */

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'kiln-build-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly output?: string;
  readonly error?: { readonly code?: string };
}
const [DEBUG, WARN] = [20, 40];

/** Builds with a script of this text; null: there is none. */
function build(text: string | null) {
  const lines: Line[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line) as Line) };
  const logger = createLogger({ level: 'debug', destination });
  const lifecycle = createLifecycle({ logger, graceMs: 60_000 });
  const script = path.join(directory, 'build.mjs');
  if (text !== null) writeFileSync(script, text);
  buildConsole({ logger, lifecycle }, script);
  const told = () => lines.filter(({ msg }) => msg.includes('console') && !msg.includes('stop'));
  return { lifecycle, told };
}

it('says how the console was built, with the last of what the build has said', async () => {
  const { told } = build("process.stdout.write('x'.repeat(5000) + process.argv.slice(2))");
  await expect.poll(told).toHaveLength(1);
  const [{ level, msg, output } = { level: 0, msg: '', output: '' }] = told();
  expect([level, msg]).toEqual([DEBUG, 'the console is built']);
  expect(output).toBe(`${'x'.repeat(4_000 - '--if-stale'.length)}--if-stale`);
});

it('says that it could not be built, and how to try by hand', async () => {
  const { told } = build("console.error('no space'); process.exitCode = 3;");
  await expect
    .poll(told)
    .toMatchObject([
      { level: WARN, msg: 'the console could not be built: npm run console', output: 'no space\n' },
    ]);
});

it('says that no process could be started for it', async () => {
  const program = process.execPath;
  process.execPath = path.join(directory, 'none');
  try {
    const { told, lifecycle } = build('');
    await expect
      .poll(told)
      .toMatchObject([{ level: WARN, msg: 'the console could not be built', error: { code: 'ENOENT' } }]);
    await lifecycle.stop('the test is over');
  } finally {
    process.execPath = program;
  }
});

it('builds nothing where its sources are not there, and stops with what it is built for', async () => {
  const none = build(null);
  await none.lifecycle.stop('the test is over');
  expect(none.told()).toEqual([]);
  const long = build("process.stdout.write('begun'); setInterval(() => undefined, 1000);");
  await long.lifecycle.stop('the test is over');
  expect(long.told()).toEqual([]);
});
