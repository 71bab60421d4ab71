import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { type Break, edited } from './break.ts';

/** Longest time of one trial, in milliseconds: one that takes longer stands still, or the machine is too busy to say. */
const LONGEST_MS = 60 * 60_000;
/** Most that is kept of what a tool prints. */
const MOST_KEPT = 1_000_000;

/** What a tool said of one break. */
interface Trial {
  readonly isFound: boolean;
  /** It was ended for its time: whether something is wrong is not known. */
  readonly isLate: boolean;
  /** Everything that it printed. */
  readonly printed: string;
}

/** Makes the edits of a break in a copy, asks a tool, and takes them back. */
export async function tryBreak(
  root: string,
  { edits, finds }: Pick<Break, 'edits' | 'finds'>,
  command: readonly string[],
): Promise<Trial> {
  const files = new Map(edits.map(({ file }) => [file, readFileSync(path.join(root, file), 'utf8')]));
  try {
    for (const edit of edits) {
      const file = path.join(root, edit.file);
      writeFileSync(file, edited(readFileSync(file, 'utf8'), edit));
    }
    const { code, printed, isLate } = await ask(root, command);
    return { isFound: code !== 0 && !isLate && new RegExp(finds).test(printed), isLate, printed };
  } finally {
    for (const [file, source] of files) writeFileSync(path.join(root, file), source);
  }
}

async function ask(
  root: string,
  command: readonly string[],
): Promise<{ readonly code: number | null; readonly printed: string; readonly isLate: boolean }> {
  const words = ['-r', './platform/process/require-node.cjs', ...command];
  const child = spawn(process.execPath, words, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      if (printed.length < MOST_KEPT) printed += chunk.toString();
    });
  // Asked to end, it takes what it has started with it.
  let isLate = false;
  const late = setTimeout(() => {
    isLate = true;
    child.kill('SIGTERM');
  }, LONGEST_MS);
  const end = () => child.kill('SIGTERM');
  process.once('exit', end);
  const [code] = (await once(child, 'exit')) as [number | null];
  clearTimeout(late);
  process.off('exit', end);
  return { code, printed, isLate };
}
