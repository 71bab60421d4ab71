import { silentLogger } from '../../../platform/process/logger.ts';
import { createLoop } from '../../../platform/process/loop.ts';
import { UpstreamError } from '../../../subgraphs/media/domain/failure.ts';
import { createCircuitBreaker } from '../../../subgraphs/media/generators/breakers/circuit-breaker.ts';
import { afterFailuresMs, whileAwayMs } from '../../../subgraphs/media/tasks/rules/poll-times.ts';
import { DEFAULT_LIMITS } from '../../../subgraphs/media/tasks/work/attempts/dependencies.ts';
import { createPollRounds } from '../../../subgraphs/media/tasks/work/progress/poller.ts';
import { createUsualDurations } from '../../../subgraphs/media/tasks/work/progress/usual-durations.ts';
import { createAttempts, type Attempt, type Upstream } from './attempts.ts';
import { createFakeClock } from './clock.ts';
import { createProcessors, type Processors } from './processors.ts';
import { wires, type Wire } from './providers.ts';

/** What is simulated. */
export interface Order {
  readonly tasks: number;
  readonly workers: number;
  /** POLL_SLOTS of each. */
  readonly slots: number;
  readonly seconds: number;
  /** Cores of the database; null: it is never busy. */
  readonly databaseCores: number | null;
  /** A provider that does not answer from one second to another. */
  readonly away?: { readonly wire: string; readonly from: number; readonly until: number };
}

/** Milliseconds of one poll: the database's processor, the worker's, and the provider's answer. */
export interface PollCosts {
  readonly database: number;
  readonly worker: number;
  readonly answer: number;
}

/** What was seen. */
export interface Simulated {
  /** Milliseconds from the time that an attempt was due until it was asked for; of the second half of the time. */
  readonly late: readonly number[];
  /** Milliseconds from the end of work at its provider until it was seen; the same. */
  readonly seen: readonly number[];
  /** Calls in each second, by wire. */
  readonly calls: ReadonlyMap<string, readonly number[]>;
}

type Next = readonly [Attempt, number];

/** Ends of each kind of work that are known at the beginning. */
const KNOWN = 64;

/** Half as long as usual to half as long again. */
const drawDuration = ({ runsMs }: Wire): number => runsMs * (0.5 + Math.random());

const timed = ({ name }: Wire, ms: number) => ({ binding: name, model: null, runningSeconds: ms / 1000 });

/** Runs the product's rounds, loops, intervals and breakers over attempts in memory, with a clock of its own. */
export async function simulate(order: Order, costs: PollCosts): Promise<Simulated> {
  const clock = createFakeClock();
  const upstreams = wires().map((wire): Upstream => ({
    ...wire,
    breaker: createCircuitBreaker({ now: clock.now }),
    calls: [],
  }));
  // What workers read of the last hour when they start.
  const durations = createUsualDurations(clock.now);
  for (const wire of upstreams)
    for (let known = 0; known < KNOWN; known += 1) durations.learn(timed(wire, drawDuration(wire)));
  const store = createAttempts(clock.now);
  for (let index = 0; index < order.tasks; index += 1) {
    const wire = upstreams[index % upstreams.length] as Upstream;
    const takes = drawDuration(wire);
    const age = Math.random() * takes;
    const attempt = { wire, startedAt: -age, finishesAt: takes - age, dueAt: 0, failures: 0 };
    store.put(attempt, Math.random() * durations.pauseMs(timed(wire, age), wire.pollMs));
  }
  const late: number[] = [];
  const seen: number[] = [];
  const isCounted = (): boolean => clock.now() > order.seconds * 500;
  const database = createProcessors(clock, order.databaseCores);
  const isUnavailable = ({ name }: Wire): boolean =>
    order.away?.wire === name &&
    clock.now() >= order.away.from * 1000 &&
    clock.now() < order.away.until * 1000;

  async function ask(attempt: Attempt, processor: Processors): Promise<Next> {
    const { wire } = attempt;
    if (!wire.breaker.admit()) return [attempt, whileAwayMs(wire.breaker.pauseMs())];
    const second = Math.floor(clock.now() / 1000);
    wire.calls[second] = (wire.calls[second] ?? 0) + 1;
    await processor(costs.worker);
    await clock.after(costs.answer * (0.5 + Math.random()));
    if (isUnavailable(wire)) {
      wire.breaker.failed(new UpstreamError('UNAVAILABLE', 'away'));
      attempt.failures += 1;
      return [attempt, afterFailuresMs(wire.pollMs, attempt.failures)];
    }
    wire.breaker.answered();
    attempt.failures = 0;
    if (clock.now() >= attempt.finishesAt) {
      if (isCounted()) seen.push(clock.now() - attempt.finishesAt);
      durations.learn(timed(wire, clock.now() - attempt.startedAt));
      // Another takes its place, so that as many run as before.
      attempt.startedAt = clock.now();
      attempt.finishesAt = clock.now() + drawDuration(wire);
      return [attempt, wire.pollMs];
    }
    return [attempt, durations.pauseMs(timed(wire, clock.now() - attempt.startedAt), wire.pollMs)];
  }
  function begin(): void {
    const processor = createProcessors(clock, 1);
    const rounds = createPollRounds<Attempt, Next>({
      slots: order.slots,
      async lease(limit) {
        const due = store.take(limit);
        if (isCounted()) for (const { dueAt } of due) late.push(clock.now() - dueAt);
        await database((due.length * costs.database) / 2);
        return due;
      },
      ask: (attempt) => ask(attempt, processor),
      async write(next) {
        if (next.length === 0) return;
        await database((next.length * costs.database) / 2);
        for (const [attempt, inMs] of next) store.put(attempt, inMs);
      },
      failed: (thrown) => {
        throw thrown;
      },
      wake: () => loop.wake(),
    });
    const loop = createLoop({
      tick: rounds.tick,
      everyMs: DEFAULT_LIMITS.pollTickMs,
      logger: silentLogger(),
      name: 'poller',
      timers: clock,
    });
    // Workers have not all begun at the same moment.
    clock.set(() => loop.start(), Math.random() * DEFAULT_LIMITS.pollTickMs);
  }
  for (let count = 0; count < order.workers; count += 1) begin();
  await clock.run(order.seconds * 1000);
  return { late, seen, calls: new Map(upstreams.map(({ name, calls }) => [name, calls])) };
}
