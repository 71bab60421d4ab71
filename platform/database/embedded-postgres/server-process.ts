import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import pTimeout from 'p-timeout';

import { AppError } from '../../errors.ts';
import type { Logger } from '../../process/logger.ts';
import { endServer, readPid } from './postmaster.ts';
import { dataDirectoryArgument, type RunAs } from './server-user.ts';

/** One running PostgreSQL, which ends when this process ends. */

export interface ServerProcessOptions {
  readonly bin: string;
  readonly directory: string;
  readonly socketFolder: string;
  readonly runAs: RunAs | undefined;
  /** PostgreSQL settings, as on its command line. */
  readonly settings: Readonly<Record<string, string>>;
  readonly logger: Logger;
  /** Called once when the server ends unexpectedly. */
  readonly onLost: (error: Error) => void;
}

/** The running server. */
export interface ServerProcess {
  /** Fast shutdown: open transactions are rolled back, everything committed is kept. */
  stop(): Promise<void>;
}

/**
 * The server is a child of this shell, which reads a pipe that only our process holds. When our process ends in any
 * way, the read ends and the server is shut down. It has a session of its own, so that Ctrl-C in the terminal does not
 * reach it before our ordered stop.
 */
const SUPERVISOR = `
exec 3<&0
"$0" "$@" </dev/null 3<&- &
server=$!
(read line <&3; kill -INT $server) 2>/dev/null &
watch=$!
trap 'kill -INT $server' TERM INT
wait $server
code=$?
kill $watch 2>/dev/null
exit $code
`;

/** What it says when it accepts connections; a standby accepts reads only. */
const READY = /database system is ready to accept (?:read-only )?connections/;

/** Starts the server and resolves when it accepts connections. Rejects with its output when it ends instead. */
export async function startServerProcess(options: ServerProcessOptions): Promise<ServerProcess> {
  const { bin, directory, runAs } = options;
  const settings = {
    ...options.settings,
    listen_addresses: '',
    unix_socket_directories: options.socketFolder,
  };
  const child = spawn(
    '/bin/sh',
    [
      '-c',
      SUPERVISOR,
      join(bin, 'postgres'),
      '-D',
      dataDirectoryArgument(directory, runAs),
      ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ],
    {
      ...runAs,
      cwd: directory,
      env: { LC_ALL: 'C', TZ: 'UTC' },
      stdio: ['pipe', 'ignore', 'pipe'],
      detached: true,
    },
  );
  // Writing to a supervisor that has ended is not an error: its exit is reported.
  child.stdin.on('error', (error) => options.logger.debug({ error }, 'database supervisor'));
  const ended = new Promise<number | null>((resolve) => {
    child.once('exit', resolve);
  });
  let stopping = false;
  await untilReady(child, ended, { logger: options.logger, isStopping: () => stopping });
  void ended.then((code) => {
    if (!stopping)
      options.onLost(new AppError('UNAVAILABLE', `the embedded database ended (${String(code)})`));
  });
  letProcessEnd(child);
  return {
    async stop() {
      stopping = true;
      child.stdin.end();
      await pTimeout(ended, { milliseconds: 20_000, message: false });
      // The supervisor may have been killed: then the server still runs.
      const pid = readPid(directory);
      if (pid !== undefined) await endServer(pid, directory);
    },
  };
}

/** Logs the server's output and waits for the line that says it is ready. */
async function untilReady(
  child: ChildProcess,
  ended: Promise<number | null>,
  { logger, isStopping }: { logger: Logger; isStopping: () => boolean },
): Promise<void> {
  const { promise: ready, resolve: isReady, reject: failed } = Promise.withResolvers<void>();
  const output: string[] = [];
  child.once('error', (error) =>
    failed(new AppError('UNAVAILABLE', `cannot start PostgreSQL: ${error.message}`, { cause: error })),
  );
  const lines = createInterface({ input: child.stderr! });
  lines.on('line', (line) => {
    if (output.length < 40) output.push(line);
    // A shutdown ends connections, each with a FATAL line.
    const level = / (FATAL|PANIC): /.test(line) && !isStopping() ? 'warn' : 'debug';
    logger[level]({ postgres: line }, 'database server');
    if (READY.test(line)) isReady();
  });
  void ended.then((code) => {
    failed(
      new AppError('UNAVAILABLE', `PostgreSQL ended with ${String(code)} at its start: ${output.join('\n')}`),
    );
  });
  await ready;
}

/** Neither the child nor its pipes keep this process alive. */
function letProcessEnd(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdin, child.stderr]) {
    if (stream && 'unref' in stream && typeof stream.unref === 'function') stream.unref();
  }
}
