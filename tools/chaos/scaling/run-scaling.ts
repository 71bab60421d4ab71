import { setTimeout as pause } from 'node:timers/promises';

import { graphql } from '../../../test/kit/clients/requests.ts';
import { startLoad, type Seen } from '../load.ts';
import type { Topology } from '../topology.ts';
import type { Finding } from '../verify/verified.ts';
import { verify } from '../verify/verify.ts';
import { type Autoscaler, startAutoscaler } from './autoscaler.ts';
import { chartRules } from './rules.ts';

/** A dry run of scaling: few callers, many, and few again, while parts come and go by the chart's own rules. */

export interface ScalingOptions {
  readonly say: (text: string) => void;
  readonly patienceMs?: number | undefined;
}

export interface ScalingRun {
  readonly seen: Seen;
  readonly findings: readonly Finding[];
}

/** Five minutes of the chart are fifteen seconds. */
const SPEED = 20;
/** Two of four processes in calm times are as busy as four may be when they are to be two again. */
const CALM = 0.48;
/** Milliseconds in which what was started has compiled itself, and then until its busyness in calm times is known. */
const WARM_UP_MS = 15_000;
const MEASURED_MS = 10_000;
/** Milliseconds between submissions. */
const CALM_MS = 3_000;
const BUSY_MS = 200;
const READERS = 16;
const READ_PAUSE_MS = 15;
/** Longest time until each role has grown, and is as small as before again. */
const PATIENCE_MS = 240_000;

/** Runs it, then looks at everything that was started, as a run of faults does. */
export async function runScaling(topology: Topology, options: ScalingOptions): Promise<ScalingRun> {
  const { say, patienceMs } = options;
  await topology.sandbox.latency({ queuedMs: 0, runningMs: 2_000 });
  let pauseMs = CALM_MS;
  const load = await startLoad(topology.gateways, () => pauseMs, patienceMs);
  const rules = chartRules();
  await pause(WARM_UP_MS);
  const scaler = startAutoscaler(topology, { rules, speed: SPEED, calm: CALM, say });
  await pause(MEASURED_MS);
  say('many callers');
  pauseMs = BUSY_MS;
  const readers = startReaders(topology);
  const hasGrown = await becomes(() =>
    rules.every(({ role, min }) => (scaler.seen.get(role)?.most ?? 0) > min),
  );
  pauseMs = CALM_MS;
  const reads = await readers.stop();
  say(`few callers again, after ${reads.count} reads`);
  const isSmall = await becomes(() =>
    rules.every(({ role, min }) => topology.listRunning(role).length === min),
  );
  await scaler.stop();
  await load.finish();
  const { database, sandbox, gateways } = topology;
  const verified = { rows: database.rows, sandboxUrl: sandbox.url, gatewayUrl: gateways[0] };
  const findings = [
    ...(await verify(verified, load.seen, patienceMs)),
    { what: 'reads while parts came and went', count: reads.count, wrong: reads.failed },
    checkScales(scaler, { hasGrown, isSmall }),
    {
      what: 'parts run on',
      count: topology.outputs().size,
      wrong: topology.crashed().map((it) => `${it} crashed`),
    },
  ];
  return { seen: load.seen, findings };
}

async function becomes(isSo: () => boolean): Promise<boolean> {
  for (const until = Date.now() + PATIENCE_MS; Date.now() < until;) {
    if (isSo()) return true;
    await pause(500);
  }
  return false;
}

function checkScales(
  { seen }: Autoscaler,
  { hasGrown, isSmall }: { hasGrown: boolean; isSmall: boolean },
): Finding {
  const told = [...seen].map(([role, { most }]) => `${role} to ${most}`).join(', ');
  return {
    what: `grew (${told}) and shrank`,
    count: [...seen.values()].reduce((sum, { most }) => sum + most, 0),
    wrong: [
      ...(hasGrown ? [] : ['not every role has grown']),
      ...(isSmall ? [] : ['not every role is as small as before']),
    ],
  };
}

/** An operation that nobody has sent before: it is checked and planned, which is what costs most. */
const writeDocument = (number: number): string =>
  `{ tasks(first: 50) { ...Some } } fragment Some on TaskConnection { edges { node { id${number}: id state progress } } }`;

/** Callers that read without a pause to speak of; who takes parts away sends them elsewhere first, so none may notice. */
function startReaders(topology: Topology) {
  const stopping = new AbortController();
  const failed: string[] = [];
  let count = 0;
  const read = async (number: number): Promise<void> => {
    for (let turn = number; !stopping.signal.aborted; turn += 1) {
      const url = topology.gateways[turn % topology.gateways.length] ?? '';
      try {
        const { errors } = await graphql(url, writeDocument(turn * READERS + number));
        if (errors !== undefined) failed.push(JSON.stringify(errors));
      } catch (thrown) {
        failed.push(`${url}: ${String(thrown)}`);
      }
      count += 1;
      await pause(READ_PAUSE_MS);
    }
  };
  const reading = Array.from({ length: READERS }, (_, number) => read(number));
  return {
    async stop() {
      stopping.abort();
      await Promise.all(reading);
      return { count, failed };
    },
  };
}
