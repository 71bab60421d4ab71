import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

import { until } from '../kit/clients/requests.ts';
import { inherited } from '../kit/processes/inherited.ts';
import { expectSilentOutput } from '../kit/processes/log-watch.ts';

/** Kiln's parts as processes of their own, as an operator runs them; each can be killed, and started again. */

const root = path.resolve(import.meta.dirname, '../..');
/** Most milliseconds until a process answers, on a machine that has other things to do. */
const START_MS = 180_000;

/** A running program. */
export interface Program {
  readonly pid: number;
  /** Whether it has ended, by a signal or by itself. */
  isOver(): boolean;
  /** Everything it has printed. */
  output(): string;
  /** Sends the signal to it and its children. */
  signal(name: NodeJS.Signals): void;
  /** Sends the signal to it and its children, and waits until it has ended. */
  end(signal?: NodeJS.Signals): Promise<void>;
}

export interface ProgramOptions {
  /** Absolute, or relative to the repository. */
  readonly command: string;
  readonly words: readonly string[];
  readonly settings?: Readonly<Record<string, string>>;
  /** A checkout of another version; this one when absent. */
  readonly checkout?: string | undefined;
  /** Asked again and again until it resolves. */
  readonly ready: (output: string) => Promise<boolean>;
}

/** Starts a program in a process group of its own and waits until it is ready; rejects with its output when it ends before. */
export async function startProgram(options: ProgramOptions): Promise<Program> {
  const child = spawn(options.command, options.words, {
    cwd: options.checkout ?? root,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      LOG_LEVEL: 'info',
      ...inherited(),
      ...options.settings,
    },
  });
  const printed: string[] = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => void printed.push(text));
  }
  killAtExit(child);
  const output = (): string => printed.join('');
  const program: Program = {
    pid: child.pid ?? 0,
    isOver: () => hasEnded(child),
    output,
    signal: (name) => signalGroup(child, name),
    async end(signal = 'SIGTERM') {
      await end(child, signal);
      expectSilentOutput(output());
    },
  };
  try {
    await until(
      () => options.ready(output()),
      (isReady) => isReady || hasEnded(child),
      START_MS,
    );
  } catch (cause) {
    await program.end('SIGKILL');
    throw new Error(`${options.command} ${options.words.join(' ')} never got ready:\n${output()}`, { cause });
  }
  if (hasEnded(child)) throw new Error(`${options.words.join(' ')} has ended:\n${output()}`);
  return program;
}

const killedAtExit = new Set<ChildProcess>();
const killAll = (): void => killedAtExit.forEach((child) => signalGroup(child, 'SIGKILL'));

/** One listener for all: of more than ten Node warns. */
function killAtExit(child: ChildProcess): void {
  if (killedAtExit.size === 0) process.once('exit', killAll);
  killedAtExit.add(child);
  child.once('exit', () => {
    killedAtExit.delete(child);
    if (killedAtExit.size === 0) process.off('exit', killAll);
  });
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (hasEnded(child)) return;
  const ended = once(child, 'exit');
  signalGroup(child, signal);
  await ended;
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (thrown) {
    // It ended by itself meanwhile.
    if ((thrown as NodeJS.ErrnoException).code !== 'ESRCH') throw thrown;
  }
}

function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

/** Runs a TypeScript file of ours with the Node that runs the tests. */
export function startNode(
  script: string,
  words: readonly string[],
  options: Pick<ProgramOptions, 'settings' | 'ready' | 'checkout'>,
): Promise<Program> {
  return startProgram({ ...options, command: process.execPath, words: [script, ...words] });
}
