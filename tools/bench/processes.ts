import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** Programs of the benches in processes of their own, and what processes cost. */

export interface Program<Ready> {
  readonly pid: number;
  /** Its first message. */
  readonly ready: Ready;
  /** Sends a message and waits for the next one that comes back, at most this long (default 60 s); one at a time. */
  ask<Answer>(message: object, silenceMs?: number): Promise<Answer>;
  /** Resolves when it has ended. */
  stop(): Promise<void>;
}

/** Starts a program of ours that sends one message when it is ready; it must end when its parent is gone. */
export async function startProgram<Ready>(
  program: URL,
  words: readonly string[] = [],
  settings: Readonly<Record<string, string>> = {},
): Promise<Program<Ready>> {
  // In a session of its own, as the Kiln it is held against: Linux shares a busy processor out by session.
  const options = { env: { ...process.env, ...settings }, detached: true };
  const child = fork(fileURLToPath(program), [...words], options);
  const ready = (await nextMessage(child, program)) as Ready;
  return {
    pid: child.pid ?? 0,
    ready,
    async ask<Answer>(message: object, silenceMs?: number) {
      const answer = nextMessage(child, program, silenceMs);
      child.send(message);
      return (await answer) as Answer;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Longest time a program may take to answer. */
const SILENCE_MS = 60_000;

async function nextMessage(child: ChildProcess, program: URL, silenceMs = SILENCE_MS): Promise<unknown> {
  const over = new AbortController();
  const { signal } = over;
  try {
    return await Promise.race([
      pause(silenceMs, undefined, { signal }).then(() => {
        throw new Error(`${program.pathname} has said nothing for ${silenceMs / 1000} s`);
      }),
      once(child, 'message', { signal }).then(([message]: unknown[]) => message),
      once(child, 'exit', { signal }).then(([code]) => {
        throw new Error(`${program.pathname} ended with ${String(code)}`);
      }),
    ]);
  } finally {
    over.abort();
  }
}

/** Milliseconds of processor time that a process has used so far; null where the system does not tell (not Linux). */
export function processorMs(pid: number): number | null {
  const fields = procFile(pid, 'stat')
    ?.replace(/^.*\) /s, '')
    .split(' ');
  // User and system time in ticks of 10 ms: the 14th and 15th of all fields, two of which are cut off.
  return fields === undefined ? null : (Number(fields[11]) + Number(fields[12])) * 10;
}

/** Resident memory of a process in MiB; null where the system does not tell. */
export function memoryMiB(pid: number): number | null {
  return statusMiB(pid, 'VmRSS');
}

/** The most resident memory that a process has had, in MiB; null where the system does not tell. */
export function peakMemoryMiB(pid: number): number | null {
  return statusMiB(pid, 'VmHWM');
}

function statusMiB(pid: number, name: string): number | null {
  const kib = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(procFile(pid, 'status') ?? '')?.[1];
  return kib === undefined ? null : Number(kib) / 1024;
}

function procFile(pid: number, name: string): string | undefined {
  if (process.platform !== 'linux') return undefined;
  return readFileSync(`/proc/${pid}/${name}`, 'utf8');
}
