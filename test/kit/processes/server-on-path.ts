import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

import { freePorts } from './free-ports.ts';

/** A server of the machine's own (nats-server, redis-server), which tests use where it is on the PATH. */
export interface ServerOnPath {
  readonly port: number;
  /** kill -9; its port stays its own. */
  kill(): Promise<void>;
  /** Starts it again at the same port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Whether the program is there; says that its tests are skipped when it is not. */
export function isOnPath(program: string): boolean {
  const isThere = spawnSync(program, ['--version'], { stdio: 'ignore' }).status === 0;
  if (!isThere) process.stderr.write(`there is no ${program} on the PATH: its tests are skipped\n`);
  return isThere;
}

/** Starts it on a free port of this machine; `words` are its arguments for a port. */
export async function startServerOnPath(
  program: string,
  words: (port: string) => readonly string[],
): Promise<ServerOnPath> {
  const [port = 0] = await freePorts(1);
  let child = await launch();
  async function launch(): Promise<ChildProcess> {
    const started = spawn(program, [...words(String(port))], { stdio: 'ignore' });
    for (let attempt = 0; attempt < 400; attempt += 1) {
      if (started.exitCode !== null) throw new Error(`${program} ended with ${started.exitCode}`);
      if (await answers(port)) return started;
      await pause(25);
    }
    throw new Error(`${program} does not listen`);
  }
  async function end(signal: NodeJS.Signals): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  }
  return {
    port,
    kill: () => end('SIGKILL'),
    async restart() {
      await end('SIGKILL');
      child = await launch();
    },
    stop: () => end('SIGTERM'),
  };
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
