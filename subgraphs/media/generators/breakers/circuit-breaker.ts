import { UpstreamError } from '../../domain/failure.ts';

/**
 * Whether one binding's upstream is to be asked: after some failures in a row it is left alone for a while, then one call is
 * let through; its answer ends the pause, its failure makes the next one longer. Pure but for the clock that is passed in.
 */
export type CircuitBreaker = ReturnType<typeof createCircuitBreaker>;

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
/** Longest that a time by another process's clock is waited for: that clock may be wrong, and the upstream says it here too. */
const LONGEST_HEARD_HOLD_MS = 900_000;
/** The first pause after a rate limit that names none. */
const FIRST_HOLD_MS = 1_000;
/** Time that the call that was let through has before another one is. */
const PROBE_MS = 15_000;
/** What others wait meanwhile. */
const SOON_MS = 1_000;

/** Its clock, and the first pause in milliseconds (default 10,000); tests shorten it. */
export interface BreakerOptions {
  readonly now?: () => number;
  readonly firstPauseMs?: number;
}

/** Makes a closed breaker. */
export function createCircuitBreaker(options: BreakerOptions = {}) {
  const { now = Date.now, firstPauseMs = FIRST_PAUSE_MS } = options;
  let failures = 0;
  let refusals = 0;
  let until = 0;
  let pause = firstPauseMs;
  let lastError: string | null = null;
  let isProbing = false;
  const held = createHold(now);
  const pauseMs = (): number => Math.max(0, until - now());
  const close = (): void => {
    failures = refusals = until = 0;
    isProbing = false;
    pause = firstPauseMs;
  };
  return {
    /** Milliseconds until it may be asked again; 0: now. */
    pauseMs,
    /** Another process has seen it answer. */
    close,
    // The call that was let through will have its answer soon.
    /** Milliseconds until a start may be sent: the pause, or what is left of the time that the upstream has asked for. */
    waitMs: () => Math.max(Math.min(pauseMs(), isProbing ? SOON_MS : Infinity), held.leftMs()),
    /**
     * The upstream takes nothing more for these seconds; without them for a second, and longer when it goes on. Answers until
     * when (milliseconds since 1970).
     */
    hold: held.hold,
    /** Another process was told to wait until then, by its clock (milliseconds since 1970): at most a quarter of an hour. */
    holdUntil: held.until,
    /** Takes the right to ask. While the breaker is open that is one call per pause. */
    admit(): boolean {
      if (until === 0) return true;
      if (pauseMs() > 0) return false;
      until = now() + PROBE_MS;
      isProbing = true;
      return true;
    },
    /** It has answered, whatever it said. True when that closed the breaker. */
    answered(): boolean {
      const wasOpen = until > 0;
      close();
      return wasOpen;
    },
    /** A call has failed. True when that opened the breaker, or kept it open. */
    failed(thrown: unknown): boolean {
      if (!isOutage(thrown)) return false;
      failures += 1;
      refusals += thrown instanceof UpstreamError && thrown.refusedCredentials ? 1 : 0;
      lastError = thrown instanceof Error ? thrown.message.slice(0, 300) : null;
      if (until === 0 && failures < MAX_FAILURES && refusals < MAX_REFUSALS) return false;
      until = now() + pause;
      isProbing = false;
      pause = Math.min(LONGEST_PAUSE_MS, pause * 2);
      return true;
    },
    /** Another process has seen it open until then, by its clock (milliseconds since 1970): at most the longest pause. */
    openUntil(at: number): void {
      until = Math.max(until, Math.min(at, now() + LONGEST_PAUSE_MS));
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
  if (thrown.isPartial) return false;
  return thrown.refusedCredentials || thrown.code === 'UNAVAILABLE' || thrown.code === 'TIMED_OUT';
}

/** The time that an upstream has asked for. */
function createHold(now: () => number) {
  let until = 0;
  let next = FIRST_HOLD_MS;
  return {
    leftMs: () => Math.max(0, until - now()),
    until: (at: number): void => {
      until = Math.max(until, Math.min(at, now() + LONGEST_HEARD_HOLD_MS));
    },
    hold: (seconds: number | undefined): number => {
      if (now() > until + LONGEST_PAUSE_MS) next = FIRST_HOLD_MS;
      if (seconds !== undefined) return (until = Math.max(until, now() + seconds * 1000));
      // Several that were sent at once are told the same thing.
      if (until > now()) return until;
      until = now() + next;
      next = Math.min(LONGEST_PAUSE_MS, next * 2);
      return until;
    },
  };
}
