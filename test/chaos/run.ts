import { setTimeout as pause } from 'node:timers/promises';

import { drawn } from './faults.ts';
import { startLoad, type Seen } from './load.ts';
import type { Topology } from './topology.ts';
import { verify, type Finding } from './verify.ts';

export interface ChaosOptions {
  /** Chooses the faults and their order. */
  readonly seed: number;
  /** Faults begin for so long. */
  readonly lastsMs: number;
  /** How long a fault lasts. */
  readonly faultMs: number;
  /** Between two submissions. */
  readonly pauseMs: number;
  /** Told what happens. */
  readonly say: (text: string) => void;
}

export interface ChaosRun {
  readonly seen: Seen;
  readonly findings: readonly Finding[];
  /** How often each fault was drawn, by its name. */
  readonly faults: ReadonlyMap<string, number>;
}

/** Faults under load, then everything is looked at. */
export async function runChaos(topology: Topology, options: ChaosOptions): Promise<ChaosRun> {
  const { seed, lastsMs, faultMs, pauseMs, say } = options;
  await topology.sandbox.latency({ queuedMs: 0, runningMs: 2_000 });
  const load = await startLoad(topology.gateways, pauseMs);
  const begun = performance.now();
  const faults = new Map<string, number>();
  for (const fault of drawn(topology, seed)) {
    const lasted = performance.now() - begun;
    if (lasted >= lastsMs) break;
    say(`${String(Math.round(lasted / 1000)).padStart(4)} s  ${new Date().toISOString()}  ${fault.name}`);
    // oxlint-disable-next-line eslint/no-await-in-loop -- one fault after the other
    await fault.run(topology, faultMs);
    faults.set(fault.name, (faults.get(fault.name) ?? 0) + 1);
    // oxlint-disable-next-line eslint/no-await-in-loop -- what it broke comes back meanwhile
    await pause(faultMs / 3);
  }
  say(
    `${Math.round((performance.now() - begun) / 1000)} s: no more faults; waiting for the end of what runs`,
  );
  await load.finish();
  return { seen: load.seen, findings: await verify(topology, load.seen), faults };
}
