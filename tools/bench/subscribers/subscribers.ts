import type { Bench, Figure } from '../bench.ts';
import { startBenchedKiln } from '../kiln.ts';
import { memoryMiB, processorMs, startProgram } from '../processes.ts';
import { median } from '../rounds.ts';

const SUBSCRIBERS = 2_000;
const EVENTS_PER_SECOND = 2_000;

/** What the crowd is sent: to subscribe, or to say how so many events came. */
export type CrowdOrder =
  | { readonly url: string; readonly ids: readonly string[] }
  | { readonly expected: number };

/** How the events since the last time came. */
export interface Heard {
  readonly deliveries: number;
  /** Milliseconds from the row's time to its receipt. */
  readonly p50: number;
  readonly p99: number;
  /** Numbers that did not follow the one before. */
  readonly gaps: number;
}

interface Round extends Heard {
  readonly perSecond: number;
  /** Processor time of Kiln's process per delivery; null where the system does not tell. */
  readonly micros: number | null;
}

/** A crowd of graphql-ws subscribers, each with a task of its own, while another process writes their progress. */
export const subscribers: Bench = {
  name: 'subscribers',
  async run(tools) {
    const kiln = await startBenchedKiln(tools);
    const before = memoryMiB(kiln.pid);
    const start = async <Ready>(url: URL, words: readonly string[] = []) => {
      const program = await startProgram<Ready>(url, words);
      tools.lifecycle.add(url.pathname, () => program.stop());
      return program;
    };
    const writer = await start<{ ids: readonly string[] }>(new URL('writer.ts', import.meta.url), [
      kiln.connection,
      String(SUBSCRIBERS),
    ]);
    const crowd = await start(new URL('crowd.ts', import.meta.url));
    const url = `${kiln.url.replace('http', 'ws')}/graphql`;
    await crowd.ask({ url, ids: writer.ready.ids });
    const write = (ms: number) => writer.ask<{ written: number }>({ perSecond: EVENTS_PER_SECOND, ms });
    const listen = async (ms: number): Promise<Round> => {
      const processor = processorMs(kiln.pid);
      const startedAt = performance.now();
      const { written } = await write(ms);
      const seconds = (performance.now() - startedAt) / 1000;
      const heard = await crowd.ask<Heard>({ expected: written });
      const used = processor === null ? null : (processorMs(kiln.pid) ?? 0) - processor;
      const micros = used === null ? null : (used * 1000) / heard.deliveries;
      return { ...heard, perSecond: written / seconds, micros };
    };
    await listen(tools.runMs);
    const rounds: Round[] = [];
    for (let round = 1; round <= tools.rounds; round += 1) {
      const found = await listen(tools.runMs);
      rounds.push(found);
      tools.say(`round ${round}: ${found.perSecond.toFixed(0)}/s, p50 ${found.p50} ms, p99 ${found.p99} ms`);
    }
    return [createFigure(rounds, memoryNote(before, memoryMiB(kiln.pid)))];
  },
};

function createFigure(rounds: readonly Round[], memory: string): Figure {
  const middle = (of: (round: Round) => number) => median(rounds.map(of));
  const cost = rounds.some(({ micros }) => micros === null)
    ? ''
    : `, ${middle(({ micros }) => micros ?? 0).toFixed(0)} µs CPU per delivery`;
  const gaps = rounds.at(-1)?.gaps ?? 0;
  return {
    what: `${SUBSCRIBERS} graphql-ws subscribers at ${EVENTS_PER_SECOND} events/s`,
    ours: `p50 ${middle(({ p50 }) => p50)} ms, p99 ${middle(({ p99 }) => p99)} ms${cost}`,
    baseline: '',
    ratio: null,
    note: `${middle(({ perSecond }) => perSecond).toFixed(0)} events/s written, all delivered, ${gaps} out of order${memory}`,
  };
}

function memoryNote(before: number | null, after: number | null): string {
  if (before === null || after === null) return '';
  return `; ${before.toFixed(0)} MiB before the first subscriber, ${after.toFixed(0)} MiB in the end`;
}
