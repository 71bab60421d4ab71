import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';

import { compiledCode } from '../kit/processes/compiled.ts';

/** The programs of a migration as processes of their own. */

const root = path.resolve(import.meta.dirname, '../..');

/** Starts a program that goes on, and waits for its first line. */
export async function startProgram(
  script: string,
  words: readonly string[],
): Promise<{ readonly line: string; readonly stop: () => Promise<void> }> {
  const child = start(script, words, {});
  const ended = new Promise<void>((resolve) => void child.once('close', () => resolve()));
  const line = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
    });
    child.stderr?.on('data', (chunk: Buffer) => void (text += chunk.toString('utf8')));
    child.once('close', () => reject(new Error(`${script} ended: ${text}`)));
  });
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  return { line, stop };
}

function start(
  script: string,
  words: readonly string[],
  settings: Readonly<Record<string, string>>,
): ChildProcess {
  const { PATH = '', HOME = '', TMPDIR = '/tmp' } = process.env;
  return spawn(process.execPath, ['--no-warnings', script, ...words], {
    cwd: root,
    env: { PATH, HOME, TMPDIR, ...compiledCode(), ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}
