import { readdirSync, readFileSync } from 'node:fs';

/** Processor time of single requests, beside that of another request in the same minute: the machine's load is in both. */

/** Milliseconds of processor time that all threads of a process have taken (Linux: /proc), to the microsecond. */
function processorMs(pid: number): number {
  return readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + threadMs(pid, thread), 0);
}

function threadMs(pid: number, thread: string): number {
  try {
    const [nanoseconds] = readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ');
    return Number(nanoseconds) / 1e6;
  } catch {
    // It has ended since it was listed.
    return 0;
  }
}

/** Requests of one kind after one another. */
const BLOCK = 25;

/** What a request costs in requests of another kind: on the average, in the median and at nine of ten. */
export interface RelativeCost {
  readonly mean: number;
  readonly median: number;
  readonly ninth: number;
}

export interface Compared {
  /** The process that serves them. */
  readonly pid: number;
  /** What costs are told in. */
  readonly unit: () => Promise<unknown>;
  readonly request: () => Promise<unknown>;
  /** Of each kind; in turns. */
  readonly count: number;
}

/** Compares two kinds of requests, each by its processor time alone. */
export async function compareCosts({ pid, unit, request, count }: Compared): Promise<RelativeCost> {
  const units: number[] = [];
  const requests: number[] = [];
  for (let done = 0; done < count; done += BLOCK) {
    units.push(...(await measureCosts(pid, unit)));
    requests.push(...(await measureCosts(pid, request)));
  }
  const relative = (part: (costs: readonly number[]) => number) => part(requests) / part(units);
  return {
    mean: relative((costs) => costs.reduce((sum, cost) => sum + cost, 0)),
    median: relative((costs) => quantile(costs, 0.5)),
    ninth: relative((costs) => quantile(costs, 0.9)),
  };
}

async function measureCosts(pid: number, run: () => Promise<unknown>): Promise<number[]> {
  const costs: number[] = [];
  let before = processorMs(pid);
  for (let index = 0; index < BLOCK; index += 1) {
    await run();
    const after = processorMs(pid);
    costs.push(after - before);
    before = after;
  }
  return costs;
}

function quantile(values: readonly number[], part: number): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length * part)] ?? 0;
}
