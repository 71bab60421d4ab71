import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import type { Bench } from '../bench.ts';
import { startBenchedKiln } from '../kiln.ts';
import { finishedTasks } from '../rest-status/rest-status.ts';
import { sumShares } from './profile.ts';

/**
 * What counting costs in a REST status read: the share of the processor time that a profile of the whole process finds in it. Two
 * processes with and without metrics differ by more than that from one start to the next (tens of percent on a busy machine).
 */
export const metrics: Bench = {
  name: 'metrics',
  async run(tools) {
    const folder = await mkdtemp(path.join(tmpdir(), 'kiln-profile-'));
    tools.lifecycle.add('profiles', () => rm(folder, { recursive: true, force: true }));
    const profiling = `--cpu-prof --cpu-prof-interval=500 --cpu-prof-dir=${folder}`;
    const kiln = await startBenchedKiln(tools, { METRICS_PORT: '0', NODE_OPTIONS: profiling });
    const { ids } = await finishedTasks(kiln);
    const paths = ids.map((id) => `/api/task/status/${id}`);
    const load = (ms: number) => tools.load.measure({ url: kiln.url, paths, ms });
    await load(WARM_UP_MS);
    const from = monotonicMicros();
    const run = await load(tools.rounds * tools.runMs);
    const to = monotonicMicros();
    // The profile is written when it ends.
    await kiln.stop();
    const { busy, asked } = sumShares(await readFile(await findLargest(folder), 'utf8'), {
      from,
      to,
      library: /node_modules\/prom-client\//,
      wrappers: /\/platform\/metrics\/|\/measure-[a-z]+\.ts$/,
    });
    const share = asked / busy;
    return [
      {
        what: 'REST status with metrics',
        ours: `${(share * 100).toFixed(2)} % of its processor time is metrics`,
        baseline: 'at most 2 %',
        ratio: { value: 1 - share, target: 0.98 },
        note: `${run.requests} reads of ${(busy / run.requests).toFixed(0)} µs, of these ${(asked / run.requests).toFixed(1)} µs`,
      },
    ];
  },
};

/** Code that has not run often is slow. */
const WARM_UP_MS = 8_000;

/** The clock of profiles. */
const monotonicMicros = (): number => Number(process.hrtime.bigint() / 1_000n);

/** The profile of the process itself; its threads have smaller ones. */
async function findLargest(folder: string): Promise<string> {
  const files = (await readdir(folder)).map((name) => path.join(folder, name));
  const sizes = await Promise.all(files.map(async (file) => ({ file, size: (await stat(file)).size })));
  const [largest] = sizes.toSorted((one, other) => other.size - one.size);
  if (largest === undefined) throw new Error('Kiln has written no profile');
  return largest.file;
}
