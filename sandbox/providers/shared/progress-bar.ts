/** A line of a log as tqdm draws it: ` 45%|####      | 9/20`. */
export function progressBar(percent: number): string {
  const filled = Math.round(percent / 10);
  const drawn = '#'.repeat(filled).padEnd(10);
  return `${String(percent).padStart(3)}%|${drawn}| ${Math.round(percent / 5)}/20 [00:01<00:01, 9.81it/s]`;
}
