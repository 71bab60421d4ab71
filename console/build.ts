import { existsSync, globSync, renameSync, rmSync, statSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { brotliCompress } from 'node:zlib';

import { build } from 'vite';

/**
 * `npm run console` builds the console into dist/; with `--if-stale` only when a source is newer than what is there.
 * It is built beside dist/ and then put in its place, so that a running gateway never serves half of it.
 */

const root = import.meta.dirname;
const dist = path.join(root, 'dist');
const SOURCES = [
  'src/**/*',
  'public/**/*',
  'index.html',
  'vite.config.ts',
  'package.json',
  '../clients/typescript/src/*',
  '../package-lock.json',
];

function isStale(): boolean {
  const built = path.join(dist, 'index.html');
  if (!existsSync(built)) return true;
  const { mtimeMs } = statSync(built);
  return globSync(SOURCES, { cwd: root }).some((file) => statSync(path.join(root, file)).mtimeMs > mtimeMs);
}

/** Compressed once and well, as it is sent to every browser. */
async function compress(file: string): Promise<void> {
  await writeFile(`${file}.br`, await promisify(brotliCompress)(await readFile(file)));
}

const { values } = parseArgs({ options: { 'if-stale': { type: 'boolean', default: false } } });
if (!values['if-stale'] || isStale()) {
  const next = path.join(root, `.dist-${process.pid}`);
  try {
    await build({ root, logLevel: 'warn', build: { outDir: next } });
    await Promise.all(
      globSync('assets/*.{js,css}', { cwd: next }).map((file) => compress(path.join(next, file))),
    );
    rmSync(dist, { recursive: true, force: true });
    renameSync(next, dist);
  } finally {
    rmSync(next, { recursive: true, force: true });
  }
}
