import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';

import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, it } from 'vitest';

import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';
import { installClients, type UserFolder } from './packages.ts';

/** @kiln/client as its users get it: built, packed, installed from the tarball where nothing else is. */

const run = promisify(execFile);
const root = path.join(import.meta.dirname, '../..');

/** Most bytes of the whole client, bundled and compressed. */
const MOST_BYTES = 8 * 1024;

let server: KilnUnderTest;
let user: UserFolder;
beforeAll(async () => {
  server = await startKiln();
  user = await installClients(['typescript']);
});
afterAll(async () => {
  await user?.remove();
  await server?.close();
});

/** Writes a file into the user's folder. */
async function write(name: string, text: string): Promise<string> {
  const file = path.join(user.folder, name);
  await writeFile(file, text);
  return file;
}

it('is built files and types alone, without a dependency', async () => {
  const manifest = path.join(user.folder, 'node_modules/@kiln/client/package.json');
  expect(JSON.parse(await readFile(manifest, 'utf8')).dependencies).toBeUndefined();
  const others = user.files.filter(
    (file) => !/^(package\.json|README\.md|LICENSE|dist\/[a-z]+\.(js|d\.ts))$/.test(file),
  );
  expect(others).toEqual([]);
  expect(user.files).toContain('dist/index.d.ts');
});

it('makes a picture in a program of its user', async () => {
  const program = `import { createKiln } from '@kiln/client';
    const kiln = createKiln({ url: process.argv[2] });
    const { id } = await kiln.generate('image', { generator: 'imga', prompt: 'a lighthouse' });
    const { outputs } = await kiln.result(id);
    console.log(outputs[0].contentType);`;
  const file = await write('picture.js', program);
  const { stdout } = await run(process.execPath, [file, server.url]);
  expect(stdout.trim()).toBe('image/png');
});

it('has types that know the graph and the options of models', async () => {
  const calls = await readFile(path.join(import.meta.dirname, 'typed-calls.fixture.ts'), 'utf8');
  await write('calls.ts', calls.replace(/'[^']+\/typescript\/src\/index\.ts'/, `'@kiln/client'`));
  const compilerOptions = { strict: true, noEmit: true, module: 'nodenext', target: 'es2022', types: [] };
  await write('tsconfig.json', JSON.stringify({ compilerOptions, files: ['calls.ts'] }));
  const compiled = await run(path.join(root, 'node_modules/.bin/tsc'), ['-p', user.folder]).catch(
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
