import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { copyFile, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';

import { Window } from 'happy-dom';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';
import { installClients, type UserFolder } from './packages.ts';
import { type Snippet, snippetsOf } from './pages.ts';

/** Every snippet of docs/clients/, as its reader runs it: with the packages as they install, against a whole Kiln. */

const root = path.join(import.meta.dirname, '../..');
const SECRET = `whsec_${Buffer.from('k'.repeat(32)).toString('base64')}`;
const HAS_PYTHON = hasHttpx();

/** What a reader knows the end of a run by: an address of a result. */
const RESULT = /http:\/\/\S+\/files\/\S+/;

let server: KilnUnderTest;
let user: UserFolder;
let receiverPort: number;
const running = new Set<ChildProcess>();
beforeAll(async () => {
  receiverPort = await freePort();
  server = await startKiln({
    settings: { OUTBOUND_ALLOW: `127.0.0.1:${receiverPort}`, WEBHOOK_SECRET: SECRET },
  });
  user = await installClients(['typescript', 'ai-sdk'], ['ai', '@ai-sdk/provider', 'react', 'react-dom']);
  await copyFile(path.join(root, 'test/kit/samples/picture.png'), path.join(user.folder, 'picture.png'));
});
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL');
  await user?.remove();
  await server?.close();
});

function hasHttpx(): boolean {
  try {
    execFileSync('python3', ['-c', 'import httpx, sys; sys.exit(sys.version_info < (3, 11))'], {
      stdio: 'ignore',
    });
    return true;
  } catch {
    return false;
  }
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

/** A snippet that runs. */
interface Running {
  /** What it has printed, errors included. */
  output(): string;
  /** Its exit code; null when it was killed. */
  readonly ended: Promise<number | null>;
  kill(): void;
}

/** The code with the addresses of this test. */
function localCode(code: string): string {
  return code.replaceAll('http://127.0.0.1:4000', server.url).replaceAll(/\b8080\b/g, String(receiverPort));
}

async function run({ language, code, name }: Snippet): Promise<Running> {
  const ending = { js: 'js', ts: 'ts', python: 'py' }[language];
  if (ending === undefined) throw new Error(`nothing runs ${language}`);
  const file = path.join(user.folder, `${name.replaceAll(/\W+/g, '-')}.${ending}`);
  await writeFile(file, localCode(code));
  const command = language === 'python' ? 'python3' : process.execPath;
  const child = spawn(command, [file], {
    cwd: user.folder,
    env: {
      ...process.env,
      WEBHOOK_SECRET: SECRET,
      PYTHONPATH: path.join(root, 'clients/python'),
      PYTHONDONTWRITEBYTECODE: '1',
      AI_SDK_LOG_WARNINGS: 'false',
    },
  });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += String(chunk)));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return { output: () => output, ended, kill: () => void child.kill('SIGKILL') };
}

/** Runs to the end. */
async function outputOf(snippet: Snippet): Promise<string> {
  const program = await run(snippet);
  const code = await program.ended;
  expect(program.output(), snippet.code).toEqual(expect.any(String));
  if (code !== 0) throw new Error(`${snippet.name} ended with ${code}:\n${program.output()}`);
  return program.output();
}

function firstLine(program: Running): string {
  return program.output().split('\n', 1)[0] ?? '';
}

/** A program that is killed when it has said what it made, and started again: the same work, and its result. */
async function survivesKill(snippet: Snippet): Promise<void> {
  const killed = await run(snippet);
  await expect.poll(killed.output).toContain('\n');
  killed.kill();
  expect(await killed.ended).toBeNull();
  const again = await run(snippet);
  expect(await again.ended, again.output()).toBe(0);
  expect(firstLine(again)).toBe(firstLine(killed));
  expect(again.output()).toMatch(RESULT);
}

/** The receiver of a page hears of the end of what its starter starts. */
async function hears(starter: Snippet, receiver: Snippet): Promise<void> {
  const listening = await run(receiver);
  await expect
    .poll(async () =>
      fetch(`http://127.0.0.1:${receiverPort}`).then(
        () => true,
        () => false,
      ),
    )
    .toBe(true);
  const id = (await outputOf(starter)).trim();
  await expect.poll(listening.output).toMatch(new RegExp(`task\\.succeeded ${id} http`));
  listening.kill();
  await listening.ended;
}

/** What a page's snippets below a heading must do; those of other headings must end well and print something. */
const CHECKS: Readonly<Record<string, (snippets: readonly Snippet[]) => Promise<void>>> = {
  'A first picture': async ([first, ...others]) => {
    expect(await outputOf(first as Snippet)).toMatch(RESULT);
    for (const other of others) expect(await outputOf(other)).not.toBe('');
  },
  'Work that outlives its program': async ([snippet]) => survivesKill(snippet as Snippet),
  Webhooks: async ([starter, receiver]) => hears(starter as Snippet, receiver as Snippet),
  Files: async ([snippet]) => {
    const output = await outputOf(snippet as Snippet);
    expect(output).toContain('100 %');
    expect(output).toMatch(RESULT);
  },
  Errors: async ([snippet]) => expect(await outputOf(snippet as Snippet)).toContain('BAD_USER_INPUT prompt'),
  'Files and errors': async ([snippet]) => {
    const output = await outputOf(snippet as Snippet);
    expect(output).toMatch(/^1\.0$/m);
    expect(output).toContain('BAD_USER_INPUT prompt');
  },
  React: async ([snippet]) => showsPicture(snippet as Snippet),
};

/** The component in a page, whose button is pressed. */
async function showsPicture({ code }: Snippet): Promise<void> {
  const input = path.join(user.folder, 'app.jsx');
  await writeFile(input, localCode(code));
  const file = path.join(user.folder, 'app.bundle.js');
  const bundle = await rolldown({ input, transform: { define: { 'process.env.NODE_ENV': '"production"' } } });
  await bundle.write({ file });
  await bundle.close();
  const page = new Window();
  Object.assign(globalThis, { window: page, document: page.document });
  await import(file);
  const button = () => page.document.querySelector('button');
  await expect.poll(() => button()?.textContent).toBe('Make a picture');
  button()?.click();
  await expect.poll(() => page.document.querySelector('img')?.getAttribute('src')).toMatch(RESULT);
  await page.happyDOM.close();
}

async function check(snippets: readonly Snippet[], heading: string): Promise<void> {
  const own = CHECKS[heading];
  if (own !== undefined) return own(snippets);
  for (const snippet of snippets) expect(await outputOf(snippet)).not.toBe('');
}

describe.each([
  { page: 'typescript.md', needs: '' },
  { page: 'ai-sdk.md', needs: '' },
  { page: 'python.md', needs: ' (needs python3 of 3.11 with httpx)' },
])('docs/clients/$page$needs', ({ page, needs }) => {
  const sections = Map.groupBy(snippetsOf(page), ({ heading }) => heading);

  it.skipIf(needs !== '' && !HAS_PYTHON).each([...sections.keys()])('%s', async (heading) => {
    await check(sections.get(heading) ?? [], heading);
  });
});
