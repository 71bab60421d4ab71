/** How far the last bar of a log says that the work is (tqdm: ` 45%|####  | 9/20`), 0 to 100; null when it has none. */
export function percentOfLogs(logs: string): number | null {
  const found = logs.match(/(\d{1,3})%\|/g)?.at(-1);
  return found === undefined ? null : Math.min(100, Number.parseInt(found, 10));
}
