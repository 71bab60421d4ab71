/** When an upstream is asked again, in milliseconds: one that answers, one that does not, one that is left alone. Pure. */

/** Longest pause between two status requests that fail. */
const LONGEST_BACK_OFF_MS = 30_000;
/** The time over which the attempts of an upstream that was away are spread. */
const SPREAD_MS = 2_000;

/** After so many unanswered calls in a row: twice as long each time. */
export function afterFailuresMs(pollMs: number, failures: number): number {
  return Math.min(LONGEST_BACK_OFF_MS, pollMs * 2 ** Math.min(failures, 10));
}

/** While an upstream is left alone: after the pause of its breaker, and then not all of its attempts at once. */
export function whileAwayMs(pauseMs: number, share = Math.random()): number {
  return pauseMs + share * SPREAD_MS;
}

/** Ends that must be known before they say anything. */
const LEAST_KNOWN = 8;
/** Within what share of a wire's own pause it may be asked again, and never sooner than so many milliseconds. */
const SHORTEST_SHARE = 0.25;
const SHORTEST_MS = 300;
/** Before the first end is due, callers still see the progress in so many parts of the usual duration. */
const PARTS_OF_USUAL = 8;
const LONGEST_PAUSE_MS = 30_000;
/** How much of its own pause a wire is left alone for when an end is as far away as it was when the first were due. */
const DENSE_SHARE = 0.62;
/** The part of ends that come first and are not waited for. */
const EARLY = 0.02;

/** Work that has run for so many seconds; `known` are the seconds that such work took, in order. */
export interface PolledWork {
  readonly seconds: number;
  readonly known: readonly number[];
  /** The wire's own pause. */
  readonly pollMs: number;
}

/**
 * Milliseconds until it is asked for again. Seldom before the first ends are due, then the more often the sooner an end is
 * to be expected: ends are found sooner, short work needs a few requests more than at the wire's own pause, long work far
 * fewer. That pause is kept where too little is known. What takes longer than any before is asked for soon at first, then
 * after as long as it is late, up to that pause.
 */
export function pollPauseMs({ seconds, known, pollMs }: PolledWork): number {
  if (known.length < LEAST_KNOWN) return pollMs;
  const shortestMs = Math.min(pollMs, Math.max(SHORTEST_MS, pollMs * SHORTEST_SHARE));
  const lateMs = (seconds - (known.at(-1) ?? 0)) * 1000;
  if (lateMs >= 0) return Math.min(pollMs, Math.max(shortestMs, lateMs));
  const rest = known.filter((one) => one > seconds);
  const usual = mean(known);
  const soonestMs = (quantile(rest, EARLY) - seconds) * 1000;
  const seldomMs = Math.max(pollMs, Math.min(LONGEST_PAUSE_MS, (usual / PARTS_OF_USUAL) * 1000));
  // How much longer it takes on the average, now and when the first ends were due.
  const expected = mean(rest) - seconds;
  const spread = Math.max(usual - quantile(known, EARLY), Number.EPSILON);
  const denseMs = Math.max(
    shortestMs,
    DENSE_SHARE * Math.min(pollMs, spread * 1000) * Math.min(1, Math.sqrt(expected / spread)),
  );
  return Math.max(denseMs, Math.min(soonestMs, seldomMs));
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Of values in order. */
function quantile(values: readonly number[], share: number): number {
  return values[Math.floor(share * (values.length - 1))] ?? 0;
}
