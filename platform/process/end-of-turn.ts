/**
 * Resolves at the end of this turn of the event loop, when every request that came in with it has been begun; at once where
 * no other one did. Answers that wait for it are written one after the other and wake the receiving process once, not once
 * each, which under load is half of the processor time of a small answer.
 */
export function endOfTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
