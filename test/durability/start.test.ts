import { spawn } from 'node:child_process';
import { chownSync, mkdirSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import packageJson from '../../package.json' with { type: 'json' };
import { graphql, postForm, rest, taskEnd } from '../kit/clients/requests.ts';
import { isWhole } from '../kit/extent.ts';
import { type KilnProcess, spawnKiln, temporaryDataDir } from '../kit/processes/kiln-process.ts';

/** What a data directory allows: one Kiln at a time, any user who owns it, and a start after everything was killed; and a settings file. */

// Every image is drawn at its full size here, one after the other.
vi.setConfig({ testTimeout: 240_000 });

let dataDir: string;
let remove: () => void;
const started: KilnProcess[] = [];
beforeEach(async () => {
  ({ dataDir, remove } = await temporaryDataDir());
});
afterEach(async () => {
  for (const kiln of started.splice(0)) await kiln.stop();
  remove();
});

function start(options: Partial<Parameters<typeof spawnKiln>[0]> = {}): KilnProcess {
  const kiln = spawnKiln({ dataDir, ...options });
  started.push(kiln);
  return kiln;
}

const isRoot = process.getuid?.() === 0;
const isLinux = process.platform === 'linux';

describe.runIf(isLinux && isWhole)('two starts on one data directory at the same moment', () => {
  it('one serves; the other ends with 1 and names the directory and the process that has it', async () => {
    const both = [start(), start()];
    const outcomes = await Promise.allSettled(both.map(({ ready }) => ready));
    const served = outcomes.findIndex(({ status }) => status === 'fulfilled');
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const [winner, loser] = [both[served], both[1 - served]];
    expect(await loser?.exited).toEqual({ code: 1, signal: null });
    expect(loser?.output()).toContain(dataDir);
    expect(loser?.output()).toMatch(new RegExp(`process ${winner?.pid}\\b`));
    // The one that serves was not disturbed.
    const url = (await winner?.ready) ?? '';
    expect((await fetch(url)).status).toBe(200);
    expect((await graphql(url, '{ models { id } }')).errors).toBeUndefined();
  });
});

describe.runIf(isLinux && isWhole)('after a kill -9 of everything', () => {
  it('the next start has every task, those that were open and those that had ended, and its sandbox goes on too', async () => {
    const first = start();
    const url = await first.ready;
    const ended = await submit(url, 'ended');
    expect((await taskEnd(url, ended, 90_000)).body.status).toBe(true);
    const open = await Promise.all(Array.from({ length: 4 }, (_, index) => submit(url, `open ${index}`)));
    await first.killEverything();

    const second = start();
    const again = await second.ready;
    const ends = await Promise.all(open.map((id) => taskEnd(again, id, 90_000)));
    expect(ends.filter(({ body: reply }) => reply.status !== true)).toEqual([]);
    const { body } = await rest(again, 'GET', `/api/task/status/${ended}`);
    expect(body.data.urls).toHaveLength(1);
    // Its file outlived the kill as well; the address names the port of the first start.
    const file = await fetch(String(body.data.urls[0]).replace(/^http:\/\/[^/]+/, again));
    expect([file.status, file.headers.get('content-type')?.split('/')[0]]).toEqual([200, 'image']);
  });
});

describe.runIf(isLinux)('an ordinary user', () => {
  const who = isRoot ? 'user 65534, as whom root starts it here' : 'the one who runs these tests';
  it(`(${who}) starts it, is answered at GET /, and nobody else can read what it keeps`, async () => {
    const kiln = start(isRoot ? asNobody() : {});
    const url = await kiln.ready;
    const answer = await fetch(url);
    expect(answer.status).toBe(200);
    expect(await works(url)).toBe(true);
    const entries = await readdir(dataDir, { recursive: true });
    expect(entries.some((entry) => /objects\/..\/./.test(entry))).toBe(true);
    expect(entries).toContain('service-key');
    expect(await openToOthers(entries)).toEqual([]);
  });
});

/** Whether the sandbox works and a file is stored; in `npm run test:all` what a process of the sandbox's has drawn. */
async function works(url: string): Promise<boolean> {
  if (isWhole) return (await taskEnd(url, await submit(url, 'made by nobody'), 90_000)).body.status === true;
  const messages = [{ role: 'user', content: 'a word' }];
  const chat = await rest(url, 'POST', '/v1/chat/completions', { model: 'llm', messages });
  const stored = await postForm(url, '/api/file/upload', { file: new Blob(['a file']) });
  return chat.body.choices?.[0]?.finish_reason === 'stop' && stored.body.status === true;
}

/** As another user than root, who owns the data directory. */
function asNobody(): Partial<Parameters<typeof spawnKiln>[0]> {
  const user = { uid: 65_534, gid: 65_534 };
  chownSync(dataDir, user.uid, user.gid);
  // Node keeps what it has compiled for each user apart, and this one can not write where the others do.
  const compiled = path.join(process.env['NODE_COMPILE_CACHE'] ?? tmpdir(), 'nobody');
  mkdirSync(compiled, { recursive: true });
  chownSync(compiled, user.uid, user.gid);
  return { user, settings: { HOME: dataDir, NODE_COMPILE_CACHE: compiled } };
}

/** The database's programs, which its own user must reach when root starts Kiln; no data of anybody. */
const PROGRAMS = /^postgres(\/postgres-runtime-.*)?$/;

/** What group or others may read, with its mode. */
async function openToOthers(entries: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    entries
      .filter((entry) => !PROGRAMS.test(entry))
      .map(async (entry) => ({
        entry,
        mode: (await stat(path.join(dataDir, entry)).catch(() => null))?.mode,
      })),
  );
  return found.flatMap(({ entry, mode = 0 }) =>
    (mode & 0o077) === 0 ? [] : [`${entry} ${(mode & 0o777).toString(8)}`],
  );
}

describe('npm start', () => {
  const root = path.join(import.meta.dirname, '../..');

  async function readOutput(environment: Readonly<Record<string, string>>) {
    const folder = await mkdtemp(path.join(tmpdir(), 'kiln-env-'));
    try {
      await writeFile(path.join(folder, '.env'), 'PORT=from-the-file\nLOG_LEVEL=from-the-file\n');
      // The script as npm runs it, in a folder of its own.
      const words = packageJson.scripts.start.replace(/^exec node /, '').split(' ');
      const absolute = words.map((word) => (/\.(c?js|ts)$/.test(word) ? path.join(root, word) : word));
      const { PATH = '' } = process.env;
      const child = spawn(process.execPath, absolute, { cwd: folder, env: { PATH, ...environment } });
      return await text(child.stderr);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  it('reads .env, and the real environment wins', async () => {
    const output = await readOutput({ LOG_LEVEL: 'info' });
    expect(output).toContain('PORT must be');
    expect(output).not.toContain('LOG_LEVEL');
  });
});

async function submit(url: string, prompt: string): Promise<string> {
  const answer = await graphql(
    url,
    'mutation ($prompt: String!) { generateImage(input: { generator: "imga", prompt: $prompt }) { id } }',
    { prompt },
  );
  expect(answer.errors).toBeUndefined();
  return answer.data.generateImage.id;
}
