import { setTimeout as pause } from 'node:timers/promises';

import { threadsMs } from '../../bench/split/processor-time.ts';
import type { Topology } from '../topology.ts';
import type { ScalingRule } from './rules.ts';

/** What Kubernetes' HorizontalPodAutoscaler does, over processes of this machine and in a part of its time. */

/** Between two polls, and how far off the target a value may be, as Kubernetes has them. */
const POLL_INTERVAL_MS = 15_000;
const TOLERANCE = 0.1;

/** How many there should be, by one look at the values. */
function wishFor(rule: ScalingRule, running: number, values: readonly number[]): number {
  const wishes = rule.metrics.map(({ target }, index) => {
    const ratio = (values[index] ?? 0) / target;
    return Math.abs(ratio - 1) <= TOLERANCE ? running : Math.ceil(running * ratio);
  });
  return Math.min(rule.max, Math.max(rule.min, ...wishes));
}

export interface AutoscalerOptions {
  readonly rules: readonly ScalingRule[];
  /** How many times faster than the chart's its time passes. */
  readonly speed: number;
  /** How busy a process is in calm times, of the busyness at which there should be more. */
  readonly calm: number;
  readonly say: (text: string) => void;
}

/** Scales until it is stopped. */
export interface Autoscaler {
  /** Most parts of each role that ran at a time, and how many do now. */
  readonly seen: ReadonlyMap<string, { readonly most: number; readonly now: number }>;
  stop(): Promise<void>;
}

/** Starts to look after each role of the rules. */
export function startAutoscaler(topology: Topology, options: AutoscalerOptions): Autoscaler {
  const stopping = new AbortController();
  const seen = new Map<string, { most: number; now: number }>();
  const loops = options.rules.map((rule) =>
    scale({ topology, rule, options, seen, signal: stopping.signal }),
  );
  return {
    seen,
    async stop() {
      stopping.abort();
      await Promise.all(loops);
    },
  };
}

interface Scaling {
  readonly topology: Topology;
  readonly rule: ScalingRule;
  readonly options: AutoscalerOptions;
  readonly seen: Map<string, { most: number; now: number }>;
  readonly signal: AbortSignal;
}

async function scale({ topology, rule, options, seen, signal }: Scaling): Promise<void> {
  const { speed, say } = options;
  const measure = createMeter(topology, rule, options);
  const recent: { at: number; wish: number }[] = [];
  let lastGone = 0;
  while (!signal.aborted) {
    await pause(POLL_INTERVAL_MS / speed, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    const running = topology.listRunning(rule.role);
    const values = await measure(running);
    // Without a value nothing changes.
    if (values === null) continue;
    const now = Date.now();
    const wish = wishFor(rule, running.length, values);
    recent.push({ at: now, wish });
    while ((recent[0]?.at ?? now) < now - rule.stabilisationMs / speed) recent.shift();
    const calmest = Math.max(...recent.map((one) => one.wish));
    const { most = running.length } = seen.get(rule.role) ?? {};
    seen.set(rule.role, { most: Math.max(most, running.length), now: running.length });
    const told = `${rule.role}: ${running.length}, ${values.map((value) => value.toFixed(2)).join(' and ')}`;
    if (wish > running.length) {
      // At most twice as many, or four more, in one look.
      const more = topology
        .listSpares(rule.role)
        .slice(0, Math.min(wish - running.length, Math.max(4, running.length)));
      if (more.length > 0) say(`${told}: ${more.length} more`);
      await Promise.all(more.map((name) => topology.start(name)));
    } else if (calmest < running.length && now - lastGone >= rule.periodMs / speed) {
      const last = running.at(-1);
      if (last === undefined) continue;
      say(`${told}: one less`);
      lastGone = now;
      await topology.retire(last);
    }
  }
}

/** Milliseconds over which processor time is taken: what processes do each second by themselves is not done faster here. */
const AVERAGE_MS = 4_000;

/**
 * Reads the values of a role: processor time of late, or the largest of what its processes tell; null where none is known yet. What a
 * process asks for, and how long work waits at least, is told by the first values, which are those of calm times: how fast this machine is
 * must not matter.
 */
function createMeter(topology: Topology, rule: ScalingRule, { speed, calm }: AutoscalerOptions) {
  const busyness = createBusyness(topology);
  const cpu = rule.metrics.find(({ name }) => name === 'cpu');
  let requested: number | null = null;
  let usual: readonly number[] | null = null;
  return async (running: readonly string[]): Promise<readonly number[] | null> => {
    if (cpu !== undefined) {
      const busy = running.flatMap(busyness);
      if (busy.length === 0) return null;
      const mean = busy.reduce((sum, each) => sum + each, 0) / busy.length;
      requested ??= mean / (calm * cpu.target);
      return [mean / requested];
    }
    const told = await topology.readMetrics(running[0] ?? '').catch(() => null);
    if (told === null) return null;
    const waits = rule.metrics.map(({ name }) => findLargest(told, name));
    usual ??= waits;
    // Times of the product pass as they are: in a shorter time of the chart they count for more.
    return waits.map((wait, index) => Math.max(0, wait - (usual?.[index] ?? 0)) * speed);
  };
}

/** Milliseconds in a second of a part; nothing of one that has just begun, as Kubernetes leaves out pods that are not ready. */
function createBusyness(topology: Topology): (name: string) => readonly number[] {
  const samples = new Map<string, readonly { at: number; ms: number }[]>();
  return (name) => {
    const at = performance.now();
    const ms = threadsMs([topology.findPid(name)]);
    const own = (samples.get(name) ?? []).filter((one) => at - one.at < 2 * AVERAGE_MS && one.ms <= ms);
    samples.set(name, [...own, { at, ms }]);
    const [first] = own;
    return first === undefined || at - first.at < AVERAGE_MS
      ? []
      : [((ms - first.ms) * 1_000) / (at - first.at)];
  };
}

/** The largest value of a metric in the format of Prometheus; 0 where there is none. */
function findLargest(text: string, name: string): number {
  const values = [...text.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'))];
  return Math.max(0, ...values.map(([, value]) => Number(value)));
}
