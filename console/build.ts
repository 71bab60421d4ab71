import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
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
/** What draws the images of the empty Studio; absent where the console is built without the rest. */
const EXAMPLES = path.join(root, '../tools/console-examples/main.ts');
const ARTISTS = ['../tools/console-examples/main.ts', '../sandbox/studio/art/*'];
const SOURCES = [
  ...ARTISTS,
  'src/**/*',
  'public/**/*',
  'index.html',
  'vite.config.ts',
  'package.json',
  '../clients/typescript/src/*',
  '../package-lock.json',
];

/** Whether a file is not there, or older than one of what it is made of. */
function isOlder(made: string, sources: readonly string[]): boolean {
  if (!existsSync(made)) return true;
  const { mtimeMs } = statSync(made);
  return globSync(sources, { cwd: root }).some((file) => statSync(path.join(root, file)).mtimeMs > mtimeMs);
}

/** Has the images of the empty Studio drawn, which takes seconds, when there are none or older ones. */
async function drawExamples(): Promise<void> {
  const [drawn = 'lighthouse.webp'] = globSync('*.webp', { cwd: path.join(root, 'examples') });
  if (!existsSync(EXAMPLES) || !isOlder(path.join(root, 'examples', drawn), ARTISTS)) return;
  await promisify(execFile)(process.execPath, [EXAMPLES], { cwd: path.join(root, '..') });
}

/** Compressed once and well, as it is sent to every browser. */
async function compress(file: string): Promise<void> {
  await writeFile(`${file}.br`, await promisify(brotliCompress)(await readFile(file)));
}

/** The most that the first view loads, in bytes as they are sent: what the page names, and the texts of one language. */
const FIRST_VIEW_MOST = 150_000;

/** Refuses a build whose first view has grown over its bound. */
function checkFirstView(folder: string): void {
  const page = readFileSync(path.join(folder, 'index.html'), 'utf8');
  const named = [...page.matchAll(/"\.\/(assets\/[^"]+\.(?:js|css))"/g)].map(([, file = '']) => file);
  const [largest = ''] = globSync('assets/{en,zh}-????????.js', { cwd: folder }).toSorted(
    (one, other) => sent(other) - sent(one),
  );
  const sizes = [...named, largest].map((file) => [file, sent(file)] as const);
  const sum = sizes.reduce((before, [, size]) => before + size, 0);
  console.log(`The first view loads ${(sum / 1000).toFixed(1)} kB of ${FIRST_VIEW_MOST / 1000}.`);
  if (sum <= FIRST_VIEW_MOST) return;
  const parts = sizes.map(([file, size]) => `${file} ${size}`).join(', ');
  throw new Error(
    `the first view loads ${sum} bytes, ${FIRST_VIEW_MOST} at most: load with later() what it does not show (${parts})`,
  );

  function sent(file: string): number {
    return statSync(path.join(folder, `${file}.br`)).size;
  }
}

/** Refuses classes in files of styles, which are written where they are used, and a utility of ours that nothing uses. */
function checkStyles(): void {
  const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
  const styles = globSync('src/**/*.css', { cwd: root }).map(read).join('\n');
  const used = globSync('src/**/*.{ts,tsx}', { cwd: root }).map(read).join('\n');
  const own = [...styles.matchAll(/^\s*(\.[a-z][\w-]*)[^;]*\{/gm)].map(([, name = '']) => name);
  const unused = [...styles.matchAll(/@utility ([\w-]+)/g)].filter(
    ([, name = '']) => !new RegExp(`["'\`\\s]${name}["'\`\\s]`).test(used),
  );
  const wrong = [...own, ...unused.map(([rule]) => rule)];
  if (wrong.length > 0) throw new Error(`styles that no component needs: ${wrong.join(', ')}`);
}

const { values } = parseArgs({ options: { 'if-stale': { type: 'boolean', default: false } } });
if (!values['if-stale'] || isOlder(path.join(dist, 'index.html'), SOURCES)) {
  checkStyles();
  await drawExamples();
  const next = path.join(root, `.dist-${process.pid}`);
  try {
    await build({ root, logLevel: 'warn', build: { outDir: next } });
    await Promise.all(
      globSync('assets/*.{js,css}', { cwd: next }).map((file) => compress(path.join(next, file))),
    );
    checkFirstView(next);
    rmSync(dist, { recursive: true, force: true });
    renameSync(next, dist);
  } finally {
    rmSync(next, { recursive: true, force: true });
  }
}
