/** Lets the first lines of a message through in each minute, and counts the others: an outage must not fill the log. */
export interface Repeats {
  /** Null: leave this line out. Otherwise how many of its message were left out before it. */
  next(message: string): number | null;
}

/** Lines of one message in a minute. */
const MOST = 60;
const MINUTE_MS = 60_000;
/** Messages that are told apart; they are written in the code, so there are not many. */
const MAX_MESSAGES = 1_000;

interface Counted {
  startedAt: number;
  lines: number;
  left: number;
}

/** Makes the counts of one logger; `now` is in milliseconds. */
export function createRepeats(now: () => number = Date.now): Repeats {
  const messages = new Map<string, Counted>();
  return {
    next(message) {
      const at = now();
      let counted = messages.get(message);
      if (counted === undefined) {
        if (messages.size >= MAX_MESSAGES) messages.clear();
        counted = { startedAt: at, lines: 0, left: 0 };
        messages.set(message, counted);
      }
      if (at - counted.startedAt >= MINUTE_MS) Object.assign(counted, { startedAt: at, lines: 0 });
      if (counted.lines >= MOST) {
        counted.left += 1;
        return null;
      }
      counted.lines += 1;
      const { left } = counted;
      counted.left = 0;
      return left;
    },
  };
}
