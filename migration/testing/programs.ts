import { type ChildProcess, spawn } from 'node:child_process';
import path from 'node:path';

import { inherited } from '../../test/kit/processes/inherited.ts';

/** The programs of a migration as processes of their own. */

const root = path.resolve(import.meta.dirname, '../..');

/** How a program ended. */
interface Ended {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
}

/** Runs a program to its end, with these settings. */
export function runProgram(
  script: string,
  words: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  return awaitEnd(start(script, words, settings));
}

/** Starts a program that goes on, and waits for its first line. */
export async function startProgram(
  script: string,
  words: readonly string[],
): Promise<{ readonly line: string; readonly stop: () => Promise<Ended> }> {
  const child = start(script, words);
  const ended = awaitEnd(child);
  const line = await new Promise<string>((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
    });
    void ended.then(({ stderr }) => reject(new Error(`${script} ended: ${stderr}`)));
  });
  const stop = () => {
    child.kill('SIGTERM');
    return ended;
  };
  return { line, stop };
}

function awaitEnd(child: ChildProcess): Promise<Ended> {
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.on('data', (chunk: Buffer) => void (said[name] += chunk.toString('utf8')));
  }
  return new Promise((resolve) => void child.once('close', (exitCode) => resolve({ ...said, exitCode })));
}

function start(
  script: string,
  words: readonly string[],
  settings: Readonly<Record<string, string>> = {},
): ChildProcess {
  const { PATH = '', HOME = '', TMPDIR = '/tmp' } = process.env;
  return spawn(process.execPath, ['--no-warnings', path.resolve(root, script), ...words], {
    cwd: root,
    env: { PATH, HOME, TMPDIR, ...inherited(), ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}
