import { startEmbeddedPostgres } from '../../../platform/database/embedded-postgres/embedded-postgres.ts';
import { silentLogger } from '../../../platform/process/logger.ts';
import { temporaryDataDir } from '../../../test/kit/processes/kiln-process.ts';
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
  /** The same to the moment at which the end event was written. */
  readonly writtenP50: number;
  readonly writtenP99: number;
  /** Delay of the worker's event loop in milliseconds. */
  readonly loopP99: number;
  /** Share of one processor core that the worker used from its first poll to the last end. */
  readonly cores: number;
  /** Status requests of one task. */
  readonly polls: number;
  /** Most resident memory. */
  readonly memoryMiB: number;
}

const ORDER: PollOrder = { tasks: 10_000, shortestSeconds: 20, longestSeconds: 60 };
const P50_TARGET_MS = 1_200;
const P99_TARGET_MS = 4_000;
const LOOP_TARGET_MS = 50;
const MEMORY_TARGET_MIB = 600;

/**
 * Ten thousand running tasks at a wire that is asked every 2 to 5 s, followed by one worker process that knows from
 * earlier work how long such work takes.
 */
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
    return createFigures(await worker.ask<Lag>(ORDER, 4 * ORDER.longestSeconds * 1000));
  },
};

function createFigures(lag: Lag): readonly Figure[] {
  const { p50, p99, writtenP50, writtenP99, cores, polls, loopP99, memoryMiB } = lag;
  // Below the target is better here, so the target is over what was found.
  const row = (what: string, found: number, target: number, unit: string, note = ''): Figure => ({
    what,
    ours: `${found.toFixed(unit === 'cores' ? 2 : 0)} ${unit}`,
    baseline: `${target} ${unit}`,
    ratio: { value: target / found, target: 1 },
    note,
  });
  const from = 'from the moment the upstream would say so to the end of the attempt';
  const what = `${ORDER.tasks} running tasks, one worker: an end is seen after`;
  return [
    row(`${what} (p50)`, p50, P50_TARGET_MS, 'ms', from),
    row(`${what} (p99)`, p99, P99_TARGET_MS, 'ms', from),
    {
      what: `${ORDER.tasks} running tasks, one worker: an end event is written after`,
      ours: `${writtenP50.toFixed(0)} ms (p50), ${writtenP99.toFixed(0)} ms (p99)`,
      baseline: '',
      ratio: null,
      note: 'from the same moment',
    },
    row('its processor time', cores, 1, 'cores', `${polls.toFixed(1)} status requests of each task`),
    row('delay of its event loop (p99)', loopP99, LOOP_TARGET_MS, 'ms'),
    row('its memory', memoryMiB, MEMORY_TARGET_MIB, 'MiB'),
  ];
}
