import { UpstreamError } from '../../domain/failure.ts';

/**
 * Whether one binding's upstream is to be asked: after some failures in a row it is left alone for a while, then one call is
 * let through; its answer ends the pause, its failure makes the next one longer. Pure but for the clock that is passed in.
 */
export interface CircuitBreaker {
  /** Milliseconds until it may be asked again; 0: now. */
  pauseMs(): number;
  /** Takes the right to ask. While the breaker is open that is one call per pause. */
  admit(): boolean;
  /** It has answered, whatever it said. True when that closed the breaker. */
  answered(): boolean;
  /** A call has failed. True when that opened the breaker, or kept it open. */
  failed(thrown: unknown): boolean;
  /** Another process has seen it open until then (milliseconds since 1970). */
  openUntil(at: number): void;
  /** Another process has seen it answer. */
  close(): void;
  state(): BreakerState;
}

/** What is known of a breaker. */
export interface BreakerState {
  readonly isOpen: boolean;
  /** When the next call is let through; null while it is closed. */
  readonly until: Date | null;
  /** Failures in a row. */
  readonly failures: number;
  readonly lastError: string | null;
}

/** Failures in a row that open it: outages, and refusals of our credentials, which do not go away by themselves. */
const MAX_FAILURES = 5;
const MAX_REFUSALS = 3;
const FIRST_PAUSE_MS = 10_000;
const LONGEST_PAUSE_MS = 30_000;
/** Time that the call that was let through has before another one is. */
const PROBE_MS = 15_000;

/** Its clock, and the first pause in milliseconds (default 10,000); tests shorten it. */
export interface BreakerOptions {
  readonly now?: () => number;
  readonly firstPauseMs?: number;
}

/** Makes a closed breaker. */
export function createCircuitBreaker(options: BreakerOptions = {}): CircuitBreaker {
  const { now = Date.now, firstPauseMs = FIRST_PAUSE_MS } = options;
  let failures = 0;
  let refusals = 0;
  let until = 0;
  let pause = firstPauseMs;
  let lastError: string | null = null;
  const pauseMs = (): number => Math.max(0, until - now());
  const close = (): void => {
    failures = refusals = until = 0;
    pause = firstPauseMs;
  };
  return {
    pauseMs,
    close,
    admit() {
      if (until === 0) return true;
      if (pauseMs() > 0) return false;
      until = now() + PROBE_MS;
      return true;
    },
    answered() {
      const wasOpen = until > 0;
      close();
      return wasOpen;
    },
    failed(thrown) {
      if (!isOutage(thrown)) return false;
      failures += 1;
      refusals += thrown instanceof UpstreamError && thrown.refusedCredentials ? 1 : 0;
      lastError = thrown instanceof Error ? thrown.message.slice(0, 300) : null;
      if (until === 0 && failures < MAX_FAILURES && refusals < MAX_REFUSALS) return false;
      until = now() + pause;
      pause = Math.min(LONGEST_PAUSE_MS, pause * 2);
      return true;
    },
    openUntil(at) {
      until = Math.max(until, at);
    },
    state: () => ({
      isOpen: until > 0,
      until: until > 0 ? new Date(until) : null,
      failures,
      lastError,
    }),
  };
}

/** Nobody answered, or nobody lets us in; any other refusal is an answer. */
export function isOutage(thrown: unknown): boolean {
  if (!(thrown instanceof UpstreamError)) {
    return thrown instanceof Error && (thrown.name === 'TimeoutError' || thrown.name === 'HttpFailure');
  }
  return thrown.refusedCredentials || thrown.code === 'UNAVAILABLE' || thrown.code === 'TIMED_OUT';
}
