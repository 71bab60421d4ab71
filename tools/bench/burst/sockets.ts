import { setTimeout as pause } from 'node:timers/promises';

import type { BenchTools, Figure } from '../bench.ts';
import { peakMemoryMiB, processorMs, startProgram, type Program } from '../processes.ts';
import type { BurstKiln } from './split.ts';

/** What a crowd is told: to come, or to wait until all have an entry. */
export type CrowdOrder =
  | {
      readonly url: string;
      readonly ids: readonly string[];
      readonly withinMs: number;
      readonly count: number;
    }
  | { readonly seq: number; readonly forMs: number };

/** How a crowd is. */
export interface Crowded {
  /** Clients that have had their first entry. */
  readonly steady: number;
  /** Seconds from the beginning until the first entry. */
  readonly seconds: { readonly p50: number; readonly p99: number; readonly last: number };
  /** Connections that were tried. */
  readonly tries: number;
  /** Why they ended, and how often. */
  readonly errors: Readonly<Record<string, number>>;
  /** Entries that did not follow the one before. */
  readonly gaps: number;
  /** The lowest number that any client has seen. */
  readonly lowest: number;
}

/** Clients of one process: each needs a file descriptor, and most systems allow 20,000 or fewer. */
const PER_PROCESS = 5_000;
const WITHIN_MS = 1_000;
const PATIENCE_MS = 180_000;

/** So many WebSocket clients that subscribe within a second, each to one of a fifth as many tasks, and try again until they follow it. */
export async function burstOfSockets(tools: BenchTools, kiln: BurstKiln, clients: number): Promise<Figure> {
  const { lifecycle } = tools;
  const connection = JSON.stringify(kiln.config);
  const writer = await startProgram<{ ids: readonly string[] }>(
    new URL('../subscribers/writer.ts', import.meta.url),
    [connection, String(clients / 5)],
  );
  lifecycle.add('writer', () => writer.stop());
  await writer.ask({ each: true });
  const crowds = await Promise.all(
    Array.from({ length: Math.ceil(clients / PER_PROCESS) }, () =>
      startProgram(new URL('crowd.ts', import.meta.url)),
    ),
  );
  for (const crowd of crowds) lifecycle.add('crowd', () => crowd.stop());
  const cpu = () => [kiln.gateway.pid, kiln.media.pid].map((pid) => processorMs(pid) ?? 0);
  const before = cpu();
  const waits = watchWaits(kiln);
  const url = `${kiln.url.replace('http', 'ws')}/graphql`;
  const { ids } = writer.ready;
  const count = Math.ceil(clients / crowds.length);
  await Promise.all(crowds.map((crowd) => crowd.ask({ url, ids, withinMs: WITHIN_MS, count })));
  const steady = await ask(crowds, { seq: 1, forMs: PATIENCE_MS });
  const used = cpu().map((ms, index) => (ms - (before[index] ?? 0)) / 1000);
  tools.say(
    `steady: ${JSON.stringify(steady)}; CPU of gateway and media ${used.map((s) => s.toFixed(1)).join(', ')} s`,
  );
  // Nothing may have been lost on the way: one more entry for each reaches everybody.
  await writer.ask({ each: true });
  const after = await ask(crowds, { seq: 2, forMs: PATIENCE_MS });
  const mostWaiting = waits.stop();
  const memory = [kiln.gateway, kiln.media].map(({ pid }) => `${(peakMemoryMiB(pid) ?? 0).toFixed(0)} MiB`);
  const errors = Object.entries(after.errors).map(([why, times]) => `${why} x ${times}`);
  for (const program of [...crowds, writer]) await program.stop();
  return {
    what: `${clients} WebSocket clients subscribe within a second`,
    ours: `${steady.steady} steady; p50 ${steady.seconds.p50.toFixed(1)} s, p99 ${steady.seconds.p99.toFixed(1)} s, last ${steady.seconds.last.toFixed(1)} s; ${after.tries} tries`,
    baseline: '',
    ratio: null,
    note: `${errors.join('; ') || 'no error'}; ${after.gaps} out of order, all at entry ${after.lowest}; most that waited for a connection ${mostWaiting}; most memory of gateway and media ${memory.join(', ')}`,
  };
}

async function ask(crowds: readonly Program<unknown>[], order: CrowdOrder): Promise<Crowded> {
  const all = await Promise.all(crowds.map((crowd) => crowd.ask<Crowded>(order, PATIENCE_MS + 60_000)));
  const errors: Record<string, number> = {};
  for (const [why, times] of all.flatMap((one) => Object.entries(one.errors)))
    errors[why] = (errors[why] ?? 0) + times;
  const most = (of: (one: Crowded) => number): number => Math.max(...all.map(of));
  const sum = (of: (one: Crowded) => number): number => all.reduce((total, one) => total + of(one), 0);
  return {
    steady: sum(({ steady }) => steady),
    seconds: {
      p50: most(({ seconds }) => seconds.p50),
      p99: most(({ seconds }) => seconds.p99),
      last: most(({ seconds }) => seconds.last),
    },
    tries: sum(({ tries }) => tries),
    errors,
    gaps: sum(({ gaps }) => gaps),
    lowest: Math.min(...all.map(({ lowest }) => lowest)),
  };
}

/** Looks every 250 ms at how many wait for a connection to the database. */
function watchWaits(kiln: BurstKiln): { stop(): number } {
  let most = 0;
  const over = new AbortController();
  void (async () => {
    while (!over.signal.aborted) {
      const waiting = await kiln.metric('media', 'kiln_database_connections{state="waiting"');
      most = Math.max(most, waiting);
      await pause(250);
    }
  })();
  return {
    stop() {
      over.abort();
      return most;
    },
  };
}
