import { once } from 'node:events';
import { createServer, request as ask, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A door in front of the sandbox: it counts who passes, and can be shut, so that connections are refused. */
export interface Door {
  readonly url: string;
  /** Every request that has passed, with the moment it came. */
  readonly passed: readonly Passed[];
  shut(): Promise<void>;
  open(): Promise<void>;
}

interface Passed {
  readonly at: number;
  /** Whether it was to start work. */
  readonly isStart: boolean;
  /** What was answered. */
  readonly status: number;
}

/** Opens one in front of an origin. */
export async function openDoor(origin: string): Promise<Door> {
  const passed: Passed[] = [];
  let port = 0;
  let server: Server | null = null;
  const open = async () => {
    server = createServer((incoming, outgoing) => {
      const { method, headers, url = '/' } = incoming;
      const at = Date.now();
      const onward = ask(new URL(url, origin), { method, headers }, (answer) => {
        passed.push({ at, isStart: url.includes('/submit/'), status: answer.statusCode ?? 0 });
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
      onward.on('error', () => outgoing.destroy());
      incoming.pipe(onward);
    }).listen(port, '127.0.0.1');
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  };
  await open();
  return {
    url: `http://127.0.0.1:${port}`,
    passed,
    open,
    async shut() {
      const closed = server === null ? null : once(server, 'close');
      server?.close();
      server?.closeAllConnections();
      await closed;
    },
  };
}

/** Most of these moments within any stretch of so many milliseconds. */
export function mostWithin(moments: readonly number[], ms: number): number {
  const sorted = moments.toSorted((one, other) => one - other);
  let first = 0;
  let most = 0;
  for (const [index, at] of sorted.entries()) {
    while (at - (sorted[first] ?? at) >= ms) first += 1;
    most = Math.max(most, index - first + 1);
  }
  return most;
}
