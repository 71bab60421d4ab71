import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { graphql, rest, until } from '../kit/clients/requests.ts';
import { type KilnProcess, startKilnProcess, temporaryDataDir } from '../kit/processes/kiln-process.ts';

/** Files, secrets and the database in DATA_DIR are for the user alone that Kiln runs as. */

/** The database's programs, which its own user must reach when root starts Kiln; no data of anybody. */
const PROGRAMS = /^postgres(\/postgres-runtime-.*)?$/;

let data: Awaited<ReturnType<typeof temporaryDataDir>>;
let kiln: KilnProcess;
beforeAll(async () => {
  data = await temporaryDataDir();
  kiln = await startKilnProcess({ dataDir: data.dataDir });
});
afterAll(async () => {
  await kiln?.stop();
  data?.remove();
});

it('nobody else can read what is below it', async () => {
  const url = await kiln.ready;
  const { body } = await rest(url, 'POST', '/api/task/create/task', { task_type: 'tea', prompt: 'a cup' });
  await until(
    async () => (await graphql(url, `{ task(id: "${body.data}") { state } }`)).data.task.state,
    (state) => state === 'SUCCEEDED',
  );
  const entries = (await readdir(data.dataDir, { recursive: true })).filter((entry) => !PROGRAMS.test(entry));
  const open: string[] = [];
  for (const entry of entries) {
    const found = await stat(path.join(data.dataDir, entry)).catch(() => null);
    // Bits of group and others.
    if (found !== null && (found.mode & 0o077) !== 0)
      open.push(`${entry} ${(found.mode & 0o777).toString(8)}`);
  }
  expect(entries.some((entry) => /objects\/..\/./.test(entry))).toBe(true);
  expect(entries).toContain('service-key');
  expect(open).toEqual([]);
});
