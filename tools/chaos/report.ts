import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import type { Seen } from './load.ts';
import type { Topology } from './topology.ts';
import type { Finding } from './verify/verified.ts';

/** Prints the table of what was looked at, and what clients had to repeat; answers whether all of it is right. */
export function printFindings(
  findings: readonly Finding[],
  { retried }: Seen,
  say: (text: string) => void,
): boolean {
  for (const { what, count, wrong } of findings) {
    const verdict = wrong.length === 0 ? 'right' : `${wrong.length} WRONG`;
    say(`${what.padEnd(42)} ${String(count).padStart(6)}   ${verdict}`);
    for (const one of wrong.slice(0, 5)) say(`    ${one.slice(0, 400)}`);
  }
  const again = [...retried].map(([reason, count]) => `${reason}: ${count}`);
  say(`repeated by clients: ${again.join(', ') || 'nothing'}`);
  return findings.every(({ wrong }) => wrong.length === 0);
}

/** Keeps what each part has printed. */
export function keepLogs(topology: Topology, folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const [name, output] of topology.outputs()) {
    writeFileSync(path.join(folder, `${name.replace(' ', '-')}.log`), output);
  }
}
