import type { BenchTools } from './bench.ts';
import type { Load, LoadRequest } from './load/load.ts';
import { processorMs } from './processes.ts';

/** Measuring several subjects in turns, so that whatever else the machine does meets all of them alike. */

export interface Subject {
  readonly name: string;
  /** The process whose processor time is counted. */
  readonly pid: number;
  /** Keeps it busy for about so many milliseconds. */
  measure(ms: number): Promise<Run>;
}

/** What one measurement found. */
export interface Run {
  readonly requests: number;
  readonly perSecond: number;
}

interface Measured extends Run {
  /** Processor time of the subject's process per request, in microseconds; null where the system does not tell. */
  readonly microsPerRequest: number | null;
}

/** Each subject's runs, in the order of the rounds. */
export type Rounds = Readonly<Record<string, readonly Measured[]>>;

/** A server under HTTP load. */
export function servedSubject(
  load: Load,
  server: { readonly name: string; readonly pid: number; readonly request: Omit<LoadRequest, 'ms'> },
): Subject {
  const { name, pid, request } = server;
  return { name, pid, measure: (ms) => load.measure({ ...request, ms }) };
}

/** Code that has not run often is slow: a server is measured as it is after some seconds of work. */
const WARM_UP_MS = 8_000;

/** Warms every subject up, then measures them in turns. */
export async function measureInTurns(tools: BenchTools, subjects: readonly Subject[]): Promise<Rounds> {
  const { rounds, runMs } = tools;
  const found: Record<string, Measured[]> = Object.fromEntries(subjects.map(({ name }) => [name, []]));
  for (const subject of subjects) await subject.measure(WARM_UP_MS);
  for (let round = 1; round <= rounds; round += 1) {
    for (const subject of subjects) {
      const { name, pid } = subject;
      const before = processorMs(pid);
      const run = await subject.measure(runMs);
      const after = processorMs(pid);
      const micros = before === null || after === null ? null : ((after - before) * 1000) / run.requests;
      found[name]?.push({ ...run, microsPerRequest: micros });
      tools.say(`round ${round}, ${name}: ${run.perSecond.toFixed(0)}/s`);
    }
  }
  return found;
}

/** The middle one; of an even number the lower of the two. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
}

/** The middle one of the ratios of each round: both runs of a round met the same machine. */
export function computeRatio(rounds: Rounds, ours: string, baseline: string): number {
  const base = rounds[baseline] ?? [];
  return median(
    (rounds[ours] ?? []).map(({ perSecond }, round) => perSecond / (base[round]?.perSecond ?? NaN)),
  );
}

/** The same of the processor time of one request: how many of ours cost what one of the baseline does. Not a number where unknown. */
export function computeCostRatio(rounds: Rounds, ours: string, baseline: string): number {
  const base = rounds[baseline] ?? [];
  return median(
    (rounds[ours] ?? []).map(
      ({ microsPerRequest }, round) => (base[round]?.microsPerRequest ?? NaN) / (microsPerRequest ?? NaN),
    ),
  );
}

/** A subject's figures in words. */
export function formatFigures(rounds: Rounds, name: string): string {
  const runs = rounds[name] ?? [];
  const perSecond = median(runs.map((run) => run.perSecond));
  const micros = runs.map(({ microsPerRequest }) => microsPerRequest).filter((value) => value !== null);
  const cost = micros.length === 0 ? '' : `, ${median(micros).toFixed(0)} µs CPU each`;
  return `${perSecond.toFixed(0)}/s${cost}`;
}
