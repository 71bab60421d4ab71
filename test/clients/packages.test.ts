import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';

import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { openPage } from '../kit/clients/page.ts';
import { graphql } from '../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';
import { startEndingStream } from './ending-stream.ts';
import { installClients, type UserFolder } from './packages.ts';
import { type Snippet, readSnippets } from './pages.ts';

/**
 * The packages of clients/ as their users get them: built, packed, and installed from the tarballs where nothing else is; and
 * every snippet of docs/clients/, as its reader runs it, against a whole Kiln. One file, as both build into one folder.
 */

const execute = promisify(execFile);
const root = path.join(import.meta.dirname, '../..');
/** Most bytes of the whole client, bundled and compressed. */
const MOST_BYTES = 8 * 1024;
const SECRET = `whsec_${Buffer.from('k'.repeat(32)).toString('base64')}`;
const KEY = 'kiln_of_a_reader';
const HAS_PYTHON = hasPython('httpx');

/** The graph that the page of Comfy's API takes from a file. */
const WORKFLOW = {
  10: { class_type: 'LoadImage', inputs: { image: '' } },
  9: { class_type: 'SaveImage', inputs: { images: ['10', 0], filename_prefix: 'out' } },
};

/** The same without a file to load. */
const PLAIN = {
  1: { class_type: 'EmptyImage', inputs: { width: 16, height: 16, batch_size: 1, color: 0 } },
  9: { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'out' } },
};

/** What a reader knows the end of a run by: an address of a result. */
const RESULT = /http:\/\/\S+\/files\/\S+/;

let server: KilnUnderTest;
let user: UserFolder;
let receiverPort: number;
const running = new Set<ChildProcess>();
beforeAll(async () => {
  receiverPort = await freePort();
  server = await startKiln({
    settings: {
      OUTBOUND_ALLOW: `127.0.0.1:${receiverPort}`,
      WEBHOOK_SECRET: SECRET,
      SERVICE_KEYS: `reader=${createHash('sha256').update(KEY).digest('hex')}`,
    },
  });
  user = await installClients(
    ['typescript', 'ai-sdk'],
    [
      'ai',
      '@ai-sdk/provider',
      'graphql',
      'graphql-ws',
      'react',
      'react-dom',
      '@comfyorg/sdk',
      '@modelcontextprotocol/client',
    ],
  );
  await copyFile(path.join(root, 'test/kit/samples/image.png'), path.join(user.folder, 'image.png'));
  await copyFile(path.join(user.folder, 'image.png'), path.join(user.folder, 'photo.png'));
  await writeFile(path.join(user.folder, 'workflow_api.json'), JSON.stringify(WORKFLOW));
});
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL');
  await user?.remove();
  await server?.close();
});

/** Whether Python is there, with this package. */
function hasPython(name: string): boolean {
  try {
    execFileSync('python3', ['-c', `import ${name}, sys; sys.exit(sys.version_info < (3, 11))`], {
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
  readonly output: () => string;
  /** Its exit code; null when it was killed. */
  readonly ended: Promise<number | null>;
  kill(): void;
}

/** The code with the addresses of this test. */
function localCode(code: string): string {
  return code
    .replaceAll('127.0.0.1:4000', new URL(server.url).host)
    .replaceAll('kiln_...', KEY)
    .replaceAll(/\b8080\b/g, String(receiverPort));
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
      KILN_KEY: KEY,
      COMFY_BASE_URL: server.url,
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
async function readOutput(snippet: Snippet): Promise<string> {
  const program = await run(snippet);
  const code = await program.ended;
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
  expect({ code: await again.ended, output: again.output() }).toMatchObject({ code: 0 });
  expect(firstLine(again)).toBe(firstLine(killed));
  expect(again.output()).toMatch(RESULT);
}

/** The receiver of a page learns of the end of what its starter starts. */
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
  const id = (await readOutput(starter)).trim();
  await expect.poll(listening.output).toMatch(new RegExp(`task\\.succeeded ${id} http`));
  listening.kill();
  await listening.ended;
}

/** What a page's snippets below a heading must do; those of other headings must end well and print something. */
const CHECKS: Readonly<Record<string, (snippets: readonly Snippet[]) => Promise<void>>> = {
  'A first image': async ([first, ...others]) => {
    expect(await readOutput(first as Snippet)).toMatch(RESULT);
    for (const other of others) expect(await readOutput(other)).not.toBe('');
  },
  'Work that outlives its program': async ([snippet]) => survivesKill(snippet as Snippet),
  Webhooks: async ([starter, receiver]) => hears(starter as Snippet, receiver as Snippet),
  Files: async ([snippet]) => {
    const output = await readOutput(snippet as Snippet);
    expect(output).toContain('100 %');
    expect(output).toMatch(RESULT);
  },
  Errors: async ([snippet]) => {
    expect(await readOutput(snippet as Snippet)).toContain('BAD_USER_INPUT prompt');
  },
  'Files and errors': async ([snippet]) => {
    const output = await readOutput(snippet as Snippet);
    expect(output).toMatch(/^1\.0$/m);
    expect(output).toContain('BAD_USER_INPUT prompt');
  },
  React: async ([snippet]) => showsImage(snippet as Snippet),
};

/** The component in a page, whose button is pressed. */
async function showsImage({ code }: Snippet): Promise<void> {
  const input = path.join(user.folder, 'app.jsx');
  await writeFile(input, localCode(code));
  const file = path.join(user.folder, 'app.bundle.js');
  const bundle = await rolldown({ input, transform: { define: { 'process.env.NODE_ENV': '"production"' } } });
  await bundle.write({ file });
  await bundle.close();
  const page = openPage();
  await import(file);
  const button = () => page.document.querySelector('button');
  await expect.poll(() => button()?.textContent).toBe('Make an image');
  button()?.click();
  await expect.poll(() => page.document.querySelector('img')?.getAttribute('src')).toMatch(RESULT);
  await page.close();
}

async function printsSomething(snippets: readonly Snippet[]): Promise<void> {
  for (const snippet of snippets) expect(await readOutput(snippet)).not.toBe('');
}

async function isRight(snippets: readonly Snippet[], heading: string): Promise<true> {
  await (CHECKS[heading] ?? printsSomething)(snippets);
  return true;
}

describe.each([
  ['typescript.md', ''],
  ['ai-sdk.md', ''],
  ['python.md', ' (needs python3 of 3.11 with httpx)'],
])('docs/clients/%s%s', (page, needs) => {
  const sections = Map.groupBy(readSnippets(page), ({ heading }) => heading);

  it.skipIf(needs !== '' && !HAS_PYTHON).each([...sections.keys()])('%s', async (heading) => {
    await expect(isRight(sections.get(heading) ?? [], heading)).resolves.toBe(true);
  });
});

/** A workflow of one text, saved and published under the name that the page calls. */
async function publishPoster(): Promise<void> {
  const query = `mutation ($graph: JSON!, $inputs: [WorkflowParameterInput!]) {
    saveWorkflow(name: "poster-maker", graph: $graph, inputs: $inputs) { id }
    publishWorkflow(id: "poster-maker", version: 1) { published }
  }`;
  const graph = {
    1: { class_type: 'PrimitiveString', inputs: { value: '' } },
    2: { class_type: 'PreviewAny', inputs: { source: ['1', 0] } },
  };
  const inputs = [{ name: 'prompt', type: 'TEXT', at: ['1.value'] }];
  const authorization = { authorization: `Bearer ${KEY}` };
  const { errors } = await graphql(server.url, query, { graph, inputs }, authorization);
  expect(errors).toBeUndefined();
}

describe('docs/comfy-api.md', () => {
  const [first, python, saved] = readSnippets('../comfy-api.md') as [Snippet, Snippet, Snippet];
  const png = async () => (await readFile(path.join(user.folder, 'out.png'))).subarray(1, 4).toString();

  it("has three programs, of which the first runs a graph by Comfy's own SDK", async () => {
    expect(readSnippets('../comfy-api.md').map(({ language }) => language)).toEqual(['js', 'python', 'js']);
    await readOutput({ ...first, name: 'comfy' });
    expect(await png()).toBe('PNG');
  });

  it.skipIf(!hasPython('comfy_sdk'))('runs it in Python (needs comfy-sdk)', async () => {
    await writeFile(path.join(user.folder, 'workflow_api.json'), JSON.stringify(PLAIN));
    await readOutput({ ...python, name: 'comfy-python' });
    expect(await png()).toBe('PNG');
  });

  it('calls a saved workflow', async () => {
    await publishPoster();
    const opening = first.code.split('\n').slice(0, 2).join('\n');
    const ending = 'console.log(Buffer.from(await job.outputs[0].toBytes()).toString());';
    const code = [opening, saved.code, ending].join('\n');
    expect(await readOutput({ ...saved, name: 'comfy-saved', code })).toContain('a boat');
  });
});

describe('docs/mcp.md', () => {
  const all = readSnippets('../mcp.md');

  it('has a program that makes an image', async () => {
    const [program] = all.filter(({ language }) => language === 'js');
    const output = await readOutput({ ...(program as Snippet), name: 'mcp' });
    expect(output).toContain("type: 'resource_link'");
    expect(output).toMatch(RESULT);
  });

  it('has settings of clients that are JSON, and name the endpoint and its credential', async () => {
    const settings = all.filter(({ language }) => language === 'json');
    expect(settings).toHaveLength(2);
    for (const { code } of settings) {
      const { mcpServers, servers = mcpServers } = JSON.parse(localCode(code)) as McpSettings;
      const { url = '', headers } = servers?.['kiln'] ?? {};
      expect(headers?.['Authorization']).toMatch(/^Bearer \$\{\w+:\w+\}$/);
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: INITIALIZE });
      const answer = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          authorization: `Bearer ${KEY}`,
        },
        body,
      });
      expect(answer.status).toBe(200);
    }
  });
});

/** What an older client of MCP begins with. */
const INITIALIZE = {
  protocolVersion: '2025-11-25',
  capabilities: {},
  clientInfo: { name: 'reader', version: '1' },
};

type Servers = Readonly<
  Record<string, { readonly url: string; readonly headers?: Readonly<Record<string, string>> }>
>;

interface McpSettings {
  readonly servers?: Servers;
  readonly mcpServers?: Servers;
}

/** Writes a file into the user's folder. */
async function write(name: string, text: string): Promise<string> {
  const file = path.join(user.folder, name);
  await writeFile(file, text);
  return file;
}

describe.skipIf(!HAS_PYTHON)('the package kiln-client (needs python3 of 3.11 with httpx)', () => {
  it.each(['SUBSCRIPTION_SCHEMA_RELOAD', 'INTERNAL'])(
    'follows on where its server says %s, waiting or not',
    async (code) => {
      for (const client of ['kiln_client.Kiln', 'Awaited']) {
        const gateway = await startEndingStream(code);
        const program = `import asyncio, kiln_client
class Awaited:
    def __init__(self, url): self.kiln = kiln_client.AsyncKiln(url)
    def follow(self, id): return asyncio.run(self.events(id))
    async def events(self, id): return [event async for event in self.kiln.follow(id)]
print([event["seq"] for event in ${client}("${gateway.url}").follow("x")])`;
        const snippet = { heading: '', language: 'python', name: `${client}-${code}`, code: program };
        expect((await readOutput(snippet)).trim()).toBe('[1, 2]');
        gateway.stop();
        expect(gateway.asked).toMatchObject([{ id: 'x' }, { id: 'x', afterSeq: 1 }]);
      }
    },
  );
});

describe('the package @kiln/client', () => {
  it('is built files and types alone, without a dependency', async () => {
    const manifest = path.join(user.folder, 'node_modules/@kiln/client/package.json');
    expect(JSON.parse(await readFile(manifest, 'utf8')).dependencies).toBeUndefined();
    const others = user.files.filter(
      (file) => !/^(package\.json|README\.md|LICENSE|dist\/[a-z]+\.(js|d\.ts))$/.test(file),
    );
    expect(others).toEqual([]);
    expect(user.files).toContain('dist/index.d.ts');
  });

  it('makes an image in a program of its user', async () => {
    const program = `import { createKiln } from '@kiln/client';
      const kiln = createKiln({ url: process.argv[2] });
      const { id } = await kiln.generate('image', { generator: 'imga', prompt: 'a lighthouse' });
      const { outputs } = await kiln.result(id);
      console.log(outputs[0].contentType);`;
    const file = await write('image.js', program);
    const { stdout } = await execute(process.execPath, [file, server.url]);
    expect(stdout.trim()).toBe('image/png');
  });

  it('has types that know the graph and the options of models', async () => {
    const calls = await readFile(path.join(import.meta.dirname, 'typed-calls.fixture.ts'), 'utf8');
    await write('calls.ts', calls.replace(/'[^']+\/typescript\/src\/index\.ts'/, `'@kiln/client'`));
    const compilerOptions = { strict: true, noEmit: true, module: 'nodenext', target: 'es2022', types: [] };
    await write('tsconfig.json', JSON.stringify({ compilerOptions, files: ['calls.ts'] }));
    const compiled = await execute(path.join(root, 'node_modules/.bin/tsc'), ['-p', user.folder]).catch(
      (error: unknown) => error as { readonly stdout: string },
    );
    expect(compiled.stdout).toBe('');
  });

  it(`is at most ${MOST_BYTES} bytes, bundled and compressed`, async () => {
    const input = await write('everything.js', `export * from '@kiln/client';`);
    const bundle = await rolldown({ input });
    const { output } = await bundle.generate({ minify: true });
    await bundle.close();
    expect(output).toHaveLength(1);
    expect(gzipSync(output[0].code).length).toBeLessThanOrEqual(MOST_BYTES);
  });
});
