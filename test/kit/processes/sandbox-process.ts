import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';

import { createLogger } from '../../../platform/process/logger.ts';
import { until } from '../clients/requests.ts';
import { inherited } from './inherited.ts';

/** The sandbox as a process of its own: what it has seen is counted outside of what a test kills. */
export interface SandboxProcess {
  readonly url: string;
  readonly wires: { readonly midjourney: string; readonly openai: string };
  /** Starts per reference, as the stand-ins counted them. */
  starts(): Promise<Readonly<Record<string, number>>>;
  jobs(): Promise<readonly SandboxJob[]>;
  /** Injects a fault: { wire, operation, fault, times, delayMs, ... }. */
  injectFault(fault: object): Promise<void>;
  /** Resolves when every injected fault has been used. */
  untilFaultsAreUsed(): Promise<void>;
  latency(change: object): Promise<void>;
  /** kill -9. */
  kill(): Promise<void>;
  /** Starts it again at the same address over the same journal; what was planned is forgotten. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** A job as the sandbox lists it. */
export interface SandboxJob {
  readonly operation: string;
  readonly id: string;
  readonly reference: string | null;
  readonly state: string;
  readonly submittedAt: number | string;
  readonly endedAt: number | string | null;
}

const program = path.resolve(import.meta.dirname, '../../../sandbox/main.ts');

interface SandboxProcessOptions {
  /** Who is told of payments. */
  readonly kilnUrl?: string;
  readonly log?: 'warn' | 'silent';
  /** Whether it runs inside the test's process, which costs a tenth; then it can't be killed. */
  readonly isInside?: boolean;
}

/** Starts it over a folder of the test's own; its images are one tiny plain one. */
export async function startSandboxProcess(
  folder: string,
  options: SandboxProcessOptions = {},
): Promise<SandboxProcess> {
  const { kilnUrl, log = 'warn' } = options;
  if (options.isInside === true) return startInside(folder, options);
  const own = [...(kilnUrl === undefined ? [] : ['--kiln', kilnUrl]), '--log', log];
  let { child, said } = await launch(folder, ['--port', '0', ...own]);
  return {
    ...said,
    ...createControl(said.url),
    kill: () => end(child, 'SIGKILL'),
    async restart() {
      await end(child, 'SIGKILL');
      ({ child, said } = await launch(folder, ['--port', new URL(said.url).port, ...own]));
    },
    stop: () => end(child, 'SIGTERM'),
  };
}

async function startInside(
  folder: string,
  { kilnUrl, log = 'warn' }: SandboxProcessOptions,
): Promise<SandboxProcess> {
  // Loaded by who asks for it: most have it as a process of its own.
  const { createSandbox } = await import('../../../sandbox/sandbox.ts');
  const sandbox = await createSandbox({
    dataDir: folder,
    ...(kilnUrl === undefined ? {} : { kilnUrl }),
    instantImages: true,
    logger: createLogger({ level: log, destination: process.stderr }),
  });
  const refuse = () => Promise.reject(new Error("the sandbox runs inside the test: it can't be killed"));
  const { url, wires } = sandbox;
  return { url, wires, ...createControl(url), kill: refuse, restart: refuse, stop: () => sandbox.close() };
}

/** What is asked and told over its control. */
function createControl(url: string) {
  const get = async <Value>(what: string): Promise<Value> =>
    (await (await fetch(`${url}/_control/${what}`)).json()) as Value;
  const post = async (what: string, body: object): Promise<void> => {
    const answer = await fetch(`${url}/_control/${what}`, { method: 'POST', body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`the sandbox refused ${JSON.stringify(body)}: ${await answer.text()}`);
  };
  return {
    starts: () => get<Readonly<Record<string, number>>>('starts'),
    jobs: () => get<readonly SandboxJob[]>('jobs'),
    injectFault: (fault: object) => post('faults', fault),
    async untilFaultsAreUsed() {
      await until(
        () => get<readonly object[]>('faults'),
        (rules) => rules.length === 0,
      );
    },
    latency: (change: object) => post('latency', change),
  };
}

interface Said {
  readonly url: string;
  readonly wires: SandboxProcess['wires'];
}

async function launch(folder: string, more: readonly string[]): Promise<{ child: ChildProcess; said: Said }> {
  const words = [program, '--instant', '--data', folder, ...more];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'], env: inherited() });
  const lines = createInterface({ input: child.stdout });
  const line = await Promise.race([
    once(lines, 'line').then(([first]) => String(first)),
    once(child, 'exit').then(([code]) => {
      throw new Error(`the sandbox ended with ${String(code)}`);
    }),
  ]);
  return { child, said: JSON.parse(line) as Said };
}

async function end(child: ChildProcess, name: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(name);
  await once(child, 'exit');
}
