import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

import type { TestDatabase } from './postgres.ts';

/** A database behind a connection that can be held: it takes connections and says nothing more, as one whose disk hangs. */
export interface DatabaseRelay {
  /** DATABASE_URL of the database by way of this relay. */
  readonly url: string;
  /** Hands nothing on, of new connections neither. */
  hold(): void;
  /** Hands on what was held, and all that follows. */
  release(): void;
  /** Holds for this long, once, as soon as somebody sends this text. */
  holdAt(text: string, forMs: number): void;
  /** Whether the text of `holdAt` was sent. */
  hasHeld(): boolean;
  /** How many have connected so far. */
  connectionCount(): number;
  stop(): void;
}

/** Starts a relay on a free port of 127.0.0.1. */
export async function startRelay({ config }: TestDatabase): Promise<DatabaseRelay> {
  const sockets = new Set<Socket>();
  let isHeld = false;
  let trigger: { readonly text: string; readonly forMs: number } | null = null;
  let hasHeld = false;
  let connectionCount = 0;
  function hold(): void {
    isHeld = true;
    for (const socket of sockets) socket.pause();
  }
  function release(): void {
    isHeld = false;
    for (const socket of sockets) socket.resume();
  }
  function holdIfTold(chunk: Buffer): void {
    if (trigger === null || !chunk.includes(trigger.text)) return;
    setTimeout(release, trigger.forMs);
    trigger = null;
    hasHeld = true;
    hold();
  }
  const server = createServer((near) => {
    connectionCount += 1;
    const far = connect(`${config.host}/.s.PGSQL.${config.port}`);
    for (const [from, to] of [[near, far] as const, [far, near] as const]) {
      sockets.add(from);
      from.on('error', () => undefined);
      from.on('data', (chunk: Buffer) => {
        holdIfTold(chunk);
        to.write(chunk);
      });
      from.once('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      if (isHeld) from.pause();
    }
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `postgresql://${config.user}@127.0.0.1:${port}/${config.database}`,
    hold,
    release,
    holdAt: (text, forMs) => void (trigger = { text, forMs }),
    hasHeld: () => hasHeld,
    connectionCount: () => connectionCount,
    stop: () => void server.close(),
  };
}
