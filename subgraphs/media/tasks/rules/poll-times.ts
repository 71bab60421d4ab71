/** When an upstream is asked again, in milliseconds. Pure. */

/** Longest pause between two status requests that fail. */
const LONGEST_MS = 30_000;
/** The time over which the attempts of an upstream that was away are spread. */
const SPREAD_MS = 2_000;

/** After so many unanswered calls in a row: twice as long each time. */
export function afterFailuresMs(pollMs: number, failures: number): number {
  return Math.min(LONGEST_MS, pollMs * 2 ** Math.min(failures, 10));
}

/** While an upstream is left alone: after the pause of its breaker, and then not all of its attempts at once. */
export function whileAwayMs(pauseMs: number, share = Math.random()): number {
  return pauseMs + share * SPREAD_MS;
}
