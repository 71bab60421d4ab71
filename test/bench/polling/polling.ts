import { startEmbeddedPostgres } from '../../../platform/database/embedded-postgres/embedded-postgres.ts';
import { silentLogger } from '../../../platform/process/logger.ts';
import { temporaryDataDir } from '../../kit/processes/kiln-process.ts';
import type { Bench, Figure } from '../bench.ts';
import { startProgram } from '../processes.ts';

/** What the worker is sent: so many tasks run, and finish after so long. */
export interface PollOrder {
  readonly tasks: number;
  readonly shortestSeconds: number;
  readonly longestSeconds: number;
}

/** How soon ends were seen, in milliseconds, and what that cost the worker. */
export interface Lag {
  readonly p50: number;
  readonly p99: number;
  /** Delay of the worker's event loop in milliseconds. */
  readonly loopP99: number;
  /** Most resident memory. */
  readonly memoryMiB: number;
}

const ORDER: PollOrder = { tasks: 5_000, shortestSeconds: 20, longestSeconds: 60 };
/** Mean pause between two questions about one task. */
const INTERVAL_MS = 3_500;
const LOOP_TARGET_MS = 50;
const MEMORY_TARGET_MIB = 600;

/** Thousands of running tasks, followed by one worker process that asks for each every 2 to 5 s. */
export const polling: Bench = {
  name: 'polling',
  async run(tools) {
    const { lifecycle } = tools;
    const { dataDir, remove } = await temporaryDataDir();
    lifecycle.add('data directory', async () => remove());
    const postgres = await startEmbeddedPostgres({ dataDir, logger: silentLogger() });
    lifecycle.add('database', () => postgres.stop());
    const upstream = await startProgram<{ url: string }>(new URL('upstream.ts', import.meta.url));
    lifecycle.add('upstream', () => upstream.stop());
    const words = [JSON.stringify(postgres.config), upstream.ready.url];
    const worker = await startProgram(new URL('worker.ts', import.meta.url), words);
    lifecycle.add('worker', () => worker.stop());
    tools.say(`${ORDER.tasks} tasks that finish within ${ORDER.longestSeconds} s`);
    return figuresOf(await worker.ask<Lag>(ORDER, 4 * ORDER.longestSeconds * 1000));
  },
};

function figuresOf({ p50, p99, loopP99, memoryMiB }: Lag): readonly Figure[] {
  const what = `${ORDER.tasks} running tasks, each asked for every 2 to 5 s by one worker`;
  // Below the target is better here, so the target is over what was found.
  const against = (target: number, found: number) => ({ value: target / found, target: 1 });
  return [
    {
      what: `${what}: the end is seen after`,
      ours: `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`,
      baseline: `half of them within the interval, ${INTERVAL_MS} ms`,
      ratio: against(INTERVAL_MS, p50),
      note: 'from the moment the upstream would say so to the end of the attempt',
    },
    {
      what: 'delay of its event loop',
      ours: `p99 ${loopP99.toFixed(0)} ms`,
      baseline: `${LOOP_TARGET_MS} ms`,
      ratio: against(LOOP_TARGET_MS, loopP99),
      note: '',
    },
    {
      what: 'its memory',
      ours: `${memoryMiB.toFixed(0)} MiB`,
      baseline: `${MEMORY_TARGET_MIB} MiB`,
      ratio: against(MEMORY_TARGET_MIB, memoryMiB),
      note: '',
    },
  ];
}
