/** The percentage of the last progress bar in a log (tqdm: ` 45%|####  | 9/20`), 0 to 100; null without one. */
export function percentOfLogs(logs: string): number | null {
  const found = logs.match(/(\d{1,3})%\|/g)?.at(-1);
  return found === undefined ? null : Math.min(100, Number.parseInt(found, 10));
}
