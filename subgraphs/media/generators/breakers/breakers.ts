import type { EventBus } from '../../../../platform/events/event-bus.ts';
import type { Metrics } from '../../../../platform/metrics/metrics.ts';
import type { Logger } from '../../../../platform/process/logger.ts';
import { UpstreamError } from '../../domain/failure.ts';
import type { Binding } from '../bindings/binding.ts';
import { watchedProvider } from '../credentials/watched-provider.ts';
import {
  createCircuitBreaker,
  isOutage,
  type BreakerOptions,
  type BreakerState,
  type CircuitBreaker,
} from './circuit-breaker.ts';

/** The circuit breakers of all bindings: each process learns what another one met. */
export interface Breakers {
  /** The same bindings, each with its breaker, which watches every call of its provider. */
  watch(bindings: readonly Binding[]): readonly Binding[];
  /** By its name. */
  findState(binding: string): BreakerState | null;
  /** Calls the listener when a provider goes away, and when it answers again or for the first time in this process. */
  onChange(listener: (change: ProviderChange) => void): void;
  close(): void;
}

/** A provider that is away, or answers. */
export interface ProviderChange {
  /** The name of the binding. */
  readonly binding: string;
  /** Its place, which the release before told instead. */
  readonly place: string;
  readonly provider: string;
  readonly isUnavailable: boolean;
  /** Why it is away. */
  readonly reason: string | null;
}

/** Topics of the bus; the key is the name of a binding, the version a time in milliseconds. */
const OPENED_TOPIC = 'breaker-opened';
const CLOSED_TOPIC = 'breaker-closed';
/** The version is the time until which the upstream has asked to wait. */
const HELD_TOPIC = 'breaker-held';

/** Makes the breakers of one process. */
export function createBreakers({
  bus,
  logger,
  metrics,
  ...times
}: BreakerOptions & {
  readonly bus: EventBus;
  readonly logger: Logger;
  readonly metrics: Metrics;
}): Breakers {
  const breakers = new Map<string, CircuitBreaker>();
  const changes = createChanges();
  const stops = [
    bus.listen(OPENED_TOPIC, (name, until) => breakers.get(name)?.openUntil(until)),
    bus.listen(CLOSED_TOPIC, (name) => breakers.get(name)?.close()),
    bus.listen(HELD_TOPIC, (name, until) => breakers.get(name)?.holdUntil(until)),
  ];
  measureOpen(metrics, breakers);

  function noteAnswer({ id, name, provider }: Binding, breaker: CircuitBreaker): void {
    const wasOpen = breaker.answered();
    changes.answered({ binding: name, place: id, provider: provider.name }, wasOpen);
    if (!wasOpen) return;
    logger.info({ provider: provider.name, binding: name }, 'a provider answers again');
    bus.publish(CLOSED_TOPIC, name, Date.now());
  }

  function noteFailure(binding: Binding, breaker: CircuitBreaker, thrown: unknown): void {
    const { id, name, provider, settings } = binding;
    if (asksForTime(thrown)) bus.publish(HELD_TOPIC, name, breaker.hold(thrown.retryAfter));
    if (!isOutage(thrown)) return noteAnswer(binding, breaker);
    const wasOpen = breaker.state().isOpen;
    if (!breaker.failed(thrown)) return;
    const { until, lastError } = breaker.state();
    const fields = { provider: provider.name, binding: name, setting: settings, until, reason: lastError };
    if (!wasOpen) {
      logger.error(fields, 'a provider is away: it is asked once in a while until it answers');
      const source = { binding: name, place: id, provider: provider.name };
      changes.tell({ ...source, isUnavailable: true, reason: lastError });
    }
    if (until !== null) bus.publish(OPENED_TOPIC, name, until.getTime());
  }

  return {
    watch: (bindings) =>
      bindings.map((binding) => {
        const breaker = createCircuitBreaker(times);
        breakers.set(binding.name, breaker);
        const provider = watchedProvider(binding.provider, {
          accepted: () => noteAnswer(binding, breaker),
          refused: () => undefined,
          failed: (thrown) => noteFailure(binding, breaker, thrown),
        });
        return { ...binding, provider, breaker };
      }),
    findState: (name) => breakers.get(name)?.state() ?? null,
    onChange: changes.listen,
    close() {
      for (const stop of stops) stop();
    },
  };
}

/** A rate limit, or an outage that says how long it takes. */
function asksForTime(thrown: unknown): thrown is UpstreamError {
  if (!(thrown instanceof UpstreamError)) return false;
  return thrown.code === 'RATE_LIMITED' || (thrown.retryAfter !== undefined && isOutage(thrown));
}

/** Tells listeners of providers that go away, and of each that answers again or for the first time. */
function createChanges() {
  const listeners: ((change: ProviderChange) => void)[] = [];
  const hasAnswered = new Set<string>();
  const tell = (change: ProviderChange): void => {
    for (const listener of listeners) listener(change);
  };
  return {
    listen: (listener: (change: ProviderChange) => void): void => void listeners.push(listener),
    tell,
    answered(provider: Omit<ProviderChange, 'isUnavailable' | 'reason'>, wasAway: boolean): void {
      if (!wasAway && hasAnswered.has(provider.binding)) return;
      hasAnswered.add(provider.binding);
      tell({ ...provider, isUnavailable: false, reason: null });
    },
  };
}

function measureOpen(metrics: Metrics, breakers: ReadonlyMap<string, CircuitBreaker>): void {
  metrics.gauge('kiln_breaker_open', 'Whether the circuit breaker of a binding is open.', ['binding'], () =>
    [...breakers].map(([binding, breaker]) => ({
      labels: { binding },
      value: breaker.state().isOpen ? 1 : 0,
    })),
  );
}
