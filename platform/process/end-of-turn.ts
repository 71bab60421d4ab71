/**
 * Resolves when everything that has come in with this turn of the event loop is begun. Answers that are sent after it leave
 * one after the other, and wake the other side's process once for many of them: under load that is half of the processor
 * time of a small answer. Where nothing else has come in, it is now.
 */
export function endOfTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
