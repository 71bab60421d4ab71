import { setTimeout as pause } from 'node:timers/promises';

import { drawn, countFaults, type Fault } from './faults.ts';
import { startLoad, type Seen } from './load.ts';
import type { Topology } from './topology.ts';
import type { Finding } from './verify/verified.ts';
import { verify } from './verify/verify.ts';

export interface ChaosOptions {
  /** Chooses the faults and their order. */
  readonly seed: number;
  /** Faults begin for so long. */
  readonly lastsMs: number;
  /** How long a fault lasts. */
  readonly faultMs: number;
  /** Between two submissions. */
  readonly pauseMs: number;
  /** Longest wait for an answer, for a follower's end, and for the end of all work (default: minutes, as on a busy machine). */
  readonly patienceMs?: number | undefined;
  /** Told what happens. */
  readonly say: (text: string) => void;
}

export interface ChaosRun {
  readonly seen: Seen;
  readonly findings: readonly Finding[];
  /** How often each fault was drawn, by its name. */
  readonly faults: ReadonlyMap<string, number>;
}

/** Most faults at the same time: a part that starts again takes its time, others go on meanwhile. */
const AT_ONCE = 3;

/** Faults under load, each kind at least once, then everything is looked at. */
export async function runChaos(topology: Topology, options: ChaosOptions): Promise<ChaosRun> {
  const { seed, lastsMs, pauseMs, patienceMs, say } = options;
  await topology.sandbox.latency({ queuedMs: 0, runningMs: 2_000 });
  const load = await startLoad(topology.gateways, pauseMs, patienceMs);
  const begun = performance.now();
  const faults = new Map<string, number>();
  const broken = createBroken(topology, options);
  let left = countFaults(topology);
  for (const fault of drawn(topology, seed)) {
    // oxlint-disable-next-line eslint/no-await-in-loop -- one fault after the other
    await broken.room(fault);
    const lasted = performance.now() - begun;
    if (lasted >= lastsMs && left <= 0) break;
    say(`${String(Math.round(lasted / 1000)).padStart(4)} s  ${new Date().toISOString()}  ${fault.name}`);
    // oxlint-disable-next-line eslint/no-await-in-loop
    await broken.begin(fault);
    faults.set(fault.name, (faults.get(fault.name) ?? 0) + 1);
    left -= 1;
  }
  await broken.healed();
  say(
    `${Math.round((performance.now() - begun) / 1000)} s: all is put right; waiting for the end of what runs`,
  );
  await load.finish();
  const { database, sandbox, gateways } = topology;
  const verified = { rows: database.rows, sandboxUrl: sandbox.url, gatewayUrl: gateways[1] };
  const findings = [...(await verify(verified, load.seen, patienceMs)), broken.finding()];
  return { seen: load.seen, findings, faults };
}

/** What is broken at the moment: a few things at once, none of them twice. */
function createBroken(topology: Topology, { faultMs }: ChaosOptions) {
  const now = new Map<string, Promise<void>>();
  const wrong: string[] = [];
  return {
    /** Waits until the target is whole, and few others are not. */
    async room({ target }: Fault): Promise<void> {
      await now.get(target);
      while (now.size >= AT_ONCE) await Promise.race(now.values());
    },
    /** Resolves when the fault is over, or its time is, and a moment of rest. */
    async begin(fault: Fault): Promise<void> {
      const over = fault
        .run(topology, faultMs)
        .catch((thrown: unknown) => void wrong.push(`${fault.name}: ${String(thrown)}`))
        .finally(() => now.delete(fault.target));
      now.set(fault.target, over);
      await Promise.race([over, pause(faultMs)]);
      await pause(faultMs / 3);
    },
    async healed(): Promise<void> {
      await Promise.all(now.values());
    },
    finding(): Finding {
      const crashes = topology.crashed();
      const again = topology.startedAgain();
      const what = again === 0 ? 'parts run on' : `parts run on (${again} started twice)`;
      return {
        what,
        count: topology.outputs().size,
        wrong: [...wrong, ...crashes.map((it) => `${it} crashed`)],
      };
    },
  };
}
