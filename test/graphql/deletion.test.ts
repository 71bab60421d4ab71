import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

import { afterAll, beforeAll, expect, it } from 'vitest';

import type { Caller } from '../../platform/access/caller.ts';
import { workflowDatabase } from '../../subgraphs/workflow/database/database.ts';
import { forgetParameters } from '../../subgraphs/workflow/personal-data/erasure.ts';
import { until } from '../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';

/** What is deleted is nowhere any more: each table and the files are searched for a word of the prompt, and for the ids. */

const MARKER = 'zebracadabra';

const logged: string[] = [];
let kiln: KilnUnderTest;
beforeAll(async () => {
  kiln = await startKiln({ onLogLine: (line) => void logged.push(line) });
});
afterAll(() => kiln.close());

/** Behind the gateway users are callers like any other. */
async function as(id: string, query: string, variables: Record<string, unknown> = {}) {
  const caller: Caller = { kind: 'user', id, scopes: [], traceId: 'test', address: null };
  const context = { caller, signal: new AbortController().signal };
  const { data, errors } = await kiln.federation.execute({ query, variables, context });
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is the query's; tests assert it
  return { data: data as any, codes: errors?.map(({ extensions }) => extensions['code']) ?? [] };
}

/** The tables whose rows hold the text, in any column; what waits for workers is among them. */
async function tablesWith(text: string): Promise<readonly string[]> {
  const { pool } = kiln.runtime.database;
  const { rows: tables } = await pool.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  );
  const found = await Promise.all(
    tables.map(async ({ name }) => {
      const { rows } = await pool.query(`select 1 from ${name} as row where row::text like $1 limit 1`, [
        `%${text}%`,
      ]);
      return rows.length > 0 ? [name] : [];
    }),
  );
  return found.flat();
}

/** The objects of the store: bytes of files and thumbnails. */
async function objects(): Promise<readonly string[]> {
  const names = await readdir(kiln.dataDir, { recursive: true, withFileTypes: true });
  return names.filter((one) => one.isFile() && one.parentPath.includes('objects')).map(({ name }) => name);
}

/** The files of the data directory that hold the text. */
async function filesWith(text: string): Promise<readonly string[]> {
  const entries = await readdir(kiln.dataDir, { recursive: true, withFileTypes: true });
  const files = entries.filter((one) => one.isFile()).map((one) => path.join(one.parentPath, one.name));
  const found = await Promise.all(
    files.map(async (file) => ((await readFile(file)).includes(text) ? [file] : [])),
  );
  return found.flat().map((file) => path.relative(kiln.dataDir, file));
}

/** Those that are not PostgreSQL's own, which keep what was deleted until their pages are used again. */
async function keptFiles(text: string): Promise<readonly string[]> {
  return (await filesWith(text)).filter((name) => !name.startsWith('postgres'));
}

/** Which provider's job a file of the sandbox's journal is; the file's own name when it is none. */
async function readWire(name: string): Promise<string> {
  if (!/^sandbox\/journal\/jobs\/[^/]+\.json$/.test(name)) return name;
  const { wire } = JSON.parse(await readFile(path.join(kiln.dataDir, name), 'utf8')) as { wire: string };
  return wire;
}

const GENERATE = `mutation ($prompt: String!) { generateImage(input: { generator: "union", prompt: $prompt }) { id } }`;
const ENDED = 'query ($id: ID!) { task(id: $id) { state outputs { id thumbnail(width: 64) } } }';
const DELETE = 'mutation ($id: ID!) { deleteTask(id: $id) }';

it('a task is deleted by its owner alone, once it has ended, with its prompt, log and files', async () => {
  const before = await objects();
  const { id } = (await as('usr_ann', GENERATE, { prompt: `a ${MARKER}` })).data.generateImage;
  const { task } = await until(
    async () => (await as('usr_ann', ENDED, { id })).data,
    (data) => data.task.state === 'SUCCEEDED',
  );
  const [{ thumbnail }] = task.outputs;
  expect((await fetch(thumbnail)).status).toBe(200);
  expect((await as('usr_ben', DELETE, { id })).codes).toEqual(['NOT_FOUND']);
  expect(await tablesWith(MARKER)).not.toEqual([]);
  expect((await objects()).length).toBeGreaterThan(before.length + 1);
  expect((await as('usr_ann', DELETE, { id })).data).toEqual({ deleteTask: true });
  expect((await as('usr_ann', ENDED, { id })).data.task).toBeNull();
  expect(await tablesWith(MARKER)).toEqual([]);
  // The log of who did what keeps the id.
  await until(
    async () => (await tablesWith(id)).filter((name) => !name.startsWith('audit')),
    (left) => left.length === 0,
  );
  await until(objects, (left) => left.length === before.length);
  expect((await as('usr_ann', DELETE, { id })).codes).toEqual(['NOT_FOUND']);
});

const EXPORT = `query ($after: String) {
  exportMyData(first: 2, after: $after) { records { kind data } endCursor }
}`;

/** All that is kept of somebody, page by page. */
async function exported(id: string): Promise<readonly { kind: string; data: object }[]> {
  const records = [];
  let after: string | null = null;
  do {
    // oxlint-disable-next-line eslint/no-await-in-loop -- each page names the next
    const { data, codes }: Awaited<ReturnType<typeof as>> = await as(id, EXPORT, { after });
    expect(codes).toEqual([]);
    records.push(...data.exportMyData.records);
    after = data.exportMyData.endCursor;
  } while (after !== null);
  return records;
}

it('an export goes on after a cursor of its own alone', async () => {
  for (const after of ['execution:none', 'media:task:none', 'auditEntry:none', 'none', 'session:ses_gone']) {
    const { codes } = await as('usr_nobody', EXPORT, { after });
    expect([after, codes]).toEqual([after, after === 'session:ses_gone' ? [] : ['BAD_USER_INPUT']]);
  }
});

/** A batch of two calls that no process takes, as it has a lease of nobody's. */
async function addBatch(owner: string, word: string): Promise<void> {
  const { pool } = kiln.runtime.database;
  await pool.query(
    `insert into gateway.batches (id, owner, caller, endpoint, input_file, metadata, status, total, leased_until)
     values ('batch_of_words', $1, $2, '/v1/images/generations', 'file-x', $3, 'in_progress', 2, now() + interval '1 hour')`,
    [owner, { kind: 'user', id: owner, scopes: [], address: null, generators: null }, { about: word }],
  );
  await pool.query(
    `insert into gateway.batch_lines (batch, index, custom_id, body)
     select 'batch_of_words', number, 'call ' || number, $1 from generate_series(0, 1) as number`,
    [{ model: 'gpt-image-2', prompt: `a ${word}` }],
  );
}

const EXECUTE = `mutation ($parameters: JSON!) {
  executeTemplate(code: "poster", parameters: $parameters, externalId: "order-of-zed") { id taskId }
}`;
const VIDEO = `mutation ($prompt: String!) { generateVideo(input: { generator: "union", model: "doubao-seedance-2-0-260128", prompt: $prompt }) { id } }`;

it('an account is deleted with all that its person made, whatever still runs', async () => {
  const before = await objects();
  const GONE = 'abrazebra';
  const made = await as('usr_zed', GENERATE, { prompt: `a ${GONE}` });
  const started = await as('usr_zed', EXECUTE, { parameters: { prompt: GONE } });
  expect([made.codes, started.codes]).toEqual([[], []]);
  await until(
    async () => (await as('usr_zed', ENDED, { id: made.data.generateImage.id })).data,
    (data) => data.task.state === 'SUCCEEDED',
  );
  const video = await as('usr_zed', VIDEO, { prompt: `a long ${GONE}` });
  expect(video.codes).toEqual([]);
  expect(await tablesWith('usr_zed')).not.toEqual([]);
  await kiln.runtime.database.pool.query(
    `insert into gateway.stored_answers (operation, id, body) values ('GET /task/{taskId}', '1 of usr_zed', '{}')`,
  );
  await addBatch('usr_zed', GONE);
  const kept = await exported('usr_zed');
  expect(kept.filter(({ data }) => JSON.stringify(data).includes(GONE)).map(({ kind }) => kind)).toEqual([
    'execution',
    'batch',
    'batchCall',
    'batchCall',
    'task',
    'task',
    'task',
  ]);
  expect(kept.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['media', 'usage', 'storedAnswer']));
  expect(await exported('usr_ann')).not.toContainEqual(expect.objectContaining({ kind: 'execution' }));
  await kiln.runtime.database.pool.query(`update gateway.batches set leased_until = null`);
  expect((await as('usr_zed', 'mutation { deleteAccount }')).data).toEqual({ deleteAccount: true });
  // The log of who did what keeps the id, which names nobody any more.
  const findTables = async (text: string) =>
    (await tablesWith(text)).filter((name) => !name.startsWith('audit'));
  await until(
    async () =>
      [await findTables(GONE), await findTables('usr_zed'), await findTables('order-of-zed')].flat(),
    (left) => left.length === 0,
  );
  await until(objects, (left) => left.length === before.length);
  expect(await tablesWith(GONE)).toEqual([]);
  // Providers were asked to delete what they keep; Midjourney, of the template's image, has no request for that.
  for (const text of ['usr_zed', 'order-of-zed']) expect(await keptFiles(text)).toEqual([]);
  await until(
    async () =>
      (await Promise.all((await keptFiles(GONE)).map(readWire))).filter((wire) => wire !== 'midjourney'),
    (left) => left.length === 0,
  );
  expect(logged.filter((line) => line.includes(GONE))).toEqual([]);
  expect(logged.length).toBeGreaterThan(0);
  const { rows } = await kiln.runtime.database.pool.query<{ pictures: number }>(
    `select sum(pictures)::int as pictures from media.usage where owner = 'deleted'`,
  );
  expect(rows[0]?.pictures).toBeGreaterThan(0);
});

it('what a provider that deletes nothing keeps of a deleted task goes from the sandbox an hour later', async () => {
  const KEPT = 'brazebracada';
  const started = await as('usr_ann', GENERATE.replace('union', 'imga'), { prompt: `a ${KEPT}` });
  const { id } = started.data.generateImage;
  await until(
    async () => (await as('usr_ann', ENDED, { id })).data,
    ({ task }) => task.state === 'SUCCEEDED',
  );
  expect((await as('usr_ann', DELETE, { id })).data).toEqual({ deleteTask: true });
  expect(await tablesWith(KEPT)).toEqual([]);
  const journal = await keptFiles(KEPT);
  expect(await Promise.all(journal.map(readWire))).toEqual(['midjourney']);
  await fetch(`${kiln.sandboxUrl}/_control/words`, { method: 'DELETE' });
  expect(await keptFiles(KEPT)).toEqual([]);
  expect(logged.filter((line) => line.includes(KEPT))).toEqual([]);
});

it('an execution loses its parameters after PROMPT_RETENTION_DAYS, and only then', async () => {
  const read = 'query ($id: ID!) { execution(id: $id) { status parameters } }';
  const started = await as('usr_kim', EXECUTE, { parameters: { prompt: 'a kiln' } });
  const { id } = started.data.executeTemplate;
  const ask = async () => (await as('usr_kim', read, { id })).data.execution;
  await until(ask, ({ status }) => status === 'COMPLETED');
  const database = workflowDatabase(kiln.runtime.database);
  await forgetParameters(database, 30, 100);
  expect(await ask()).toMatchObject({ parameters: { prompt: 'a kiln' } });
  await kiln.runtime.database.pool.query(
    `update workflow.executions set ended_at = now() - interval '31 days' where id = $1`,
    [id],
  );
  expect(await forgetParameters(database, 30, 100)).toBeGreaterThan(0);
  expect(await ask()).toEqual({ status: 'COMPLETED', parameters: {} });
  expect(await forgetParameters(database, 30, 100)).toBe(0);
});
