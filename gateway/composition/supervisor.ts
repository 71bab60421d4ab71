import cluster, { type Worker } from 'node:cluster';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

import { joinMetrics } from '../../platform/metrics/joined-metrics.ts';
import { ALL_METRICS, OWN_METRICS, serveMetrics } from '../../platform/metrics/serve-metrics.ts';
import { onRequest, sendRequest } from '../../platform/process/cluster/messages.ts';
import type { ProcessParts } from '../../platform/runtime/run-process.ts';
import { reservePort } from './port.ts';

/** Milliseconds before a process that died is started again; doubled each time it dies before it serves. */
const RESTART_MS = 500;
const LONGEST_RESTART_MS = 30_000;
/** Most milliseconds for the metrics of one process; a process that is stuck is left out. */
const METRICS_MS = 2_000;
const STOP = { stop: true };

/** Stops this process in order when its supervisor says so; called before its start, which may be stopped as well. */
export function stopWithSupervisor({ lifecycle }: Pick<ProcessParts, 'lifecycle'>): void {
  process.on('message', (message: Partial<typeof STOP>) => {
    // A signal to the whole group has reached it before: a second one would mean not to wait.
    if (message.stop && !lifecycle.stopping.aborted) process.emit('SIGTERM');
  });
}

/** Tells the supervisor that this process serves. */
export function reportServing(): void {
  process.send?.({ serves: true });
}

/**
 * Runs PROCESSES processes of this program on one port, over which connections are spread. The first one starts alone, so
 * that a start that fails ends the program as it does with one process. A process that dies is started again.
 */
export async function supervise(parts: ProcessParts): Promise<void> {
  const { config, logger, lifecycle } = parts;
  const running = new Map<number, Worker>();
  const serving = new Set<Worker>();
  const allMetrics = () => collectMetrics(running);
  const port = await choosePort(config.server);

  function launch(number: number): Promise<boolean> {
    const worker = cluster.fork({ PORT: String(port) });
    running.set(number, worker);
    onRequest(worker, ALL_METRICS, allMetrics);
    const { promise: serves, resolve } = Promise.withResolvers<boolean>();
    worker.on('message', (message: { readonly serves?: boolean }) => {
      if (message.serves !== true) return;
      serving.add(worker);
      resolve(true);
    });
    worker.once('exit', (code, signal) => {
      running.delete(number);
      serving.delete(worker);
      resolve(false);
      logger.debug({ process: number, code, signal }, 'a process has ended');
    });
    return serves;
  }
  /** Keeps one process running until the program stops. */
  async function keep(number: number, firstServes: boolean): Promise<void> {
    let delayMs = RESTART_MS;
    let serves = firstServes;
    while (!lifecycle.stopping.aborted) {
      if (serves) delayMs = RESTART_MS;
      await ended(running.get(number));
      if (lifecycle.stopping.aborted) return;
      logger.error({ process: number, restartMs: delayMs }, 'a process died and is started again');
      await pause(delayMs, undefined, { signal: lifecycle.stopping }).catch(() => undefined);
      if (lifecycle.stopping.aborted) return;
      delayMs = Math.min(delayMs * 2, LONGEST_RESTART_MS);
      serves = await launch(number);
    }
  }

  // Each reads its graph again (other-graph/reload.ts), if it has read it; of Kiln's own graph it ends the program.
  if (config.split.isOtherGraph) process.on('SIGHUP', () => signalAll(serving, 'SIGHUP'));
  lifecycle.add('processes', () => stopAll(running), config.stopping.workerGraceSeconds * 1_000 + 60_000);
  const isServed = await launch(1);
  if (lifecycle.stopping.aborted) return;
  if (!isServed) {
    // It has said why.
    await lifecycle.stop('the first process did not start');
    process.exit(1);
  }
  void keep(1, true);
  if (config.metrics.port !== null) await serveMetrics({ text: allMetrics }, config.metrics.port, parts);
  const rest = Array.from({ length: config.processes - 1 }, (_, index) => index + 2);
  // Each is started again from its own start on, not once all are ready.
  await Promise.all(rest.map(async (number) => void keep(number, await launch(number))));
  if (lifecycle.stopping.aborted) return;
  logger.info(
    { processes: config.processes, pids: [...running.values()].map(readPid) },
    'all processes serve',
  );
}

/** For PORT=0 a free one, the same for all of them: node:cluster can't hand over one that is held. */
async function choosePort(server: ProcessParts['config']['server']): Promise<number> {
  const { port, holder } = await reservePort(server, { add: () => undefined });
  if (holder !== undefined) await promisify(holder.close.bind(holder))();
  return port;
}

const readPid = (worker: Worker): number | undefined => worker.process.pid;

function ended(worker: Worker | undefined): Promise<void> {
  if (worker === undefined || worker.isDead()) return Promise.resolve();
  return new Promise((resolve) => worker.once('exit', () => resolve()));
}

function signalAll(workers: ReadonlySet<Worker>, signal: NodeJS.Signals): void {
  for (const worker of workers) worker.process.kill(signal);
}

async function stopAll(running: ReadonlyMap<number, Worker>): Promise<void> {
  await Promise.all(
    [...running.values()].map((worker) => {
      const end = ended(worker);
      if (worker.isConnected()) worker.send(STOP);
      return end;
    }),
  );
}

async function collectMetrics(running: ReadonlyMap<number, Worker>): Promise<string> {
  const texts = new Map<number, string>();
  await Promise.all(
    [...running].map(async ([number, worker]) => {
      const text = await sendRequest(worker, OWN_METRICS, METRICS_MS).catch(() => undefined);
      if (text !== undefined) texts.set(number, text);
    }),
  );
  return joinMetrics(new Map([...texts].toSorted(([one], [other]) => one - other)));
}
