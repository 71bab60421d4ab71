import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** The network between clients and a server: TCP that is handed on, until it is cut. */
export interface Relay {
  readonly url: string;
  /** Destroys every connection at once, as a dead network does, and lets no other through until it is mended. */
  cut(): void;
  mend(): void;
  /** All that clients have sent. */
  sent(): string;
  /** How many connections there were, and how many there are. */
  connections(): number;
  open(): number;
  close(): Promise<void>;
}

/** Listens on a free port and hands everything on to the target's origin. */
export async function startRelay(target: string): Promise<Relay> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const chunks: Buffer[] = [];
  let isCut = false;
  let connections = 0;
  let open = 0;
  const server = createServer((near) => {
    if (isCut) {
      near.destroy();
      return;
    }
    connections += 1;
    open += 1;
    near.once('close', () => (open -= 1));
    near.on('data', (chunk) => void chunks.push(chunk));
    const far = connect(Number(port), hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.pipe(far).pipe(near);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  function cut(): void {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    mend: () => void (isCut = false),
    sent: () => Buffer.concat(chunks).toString('latin1'),
    connections: () => connections,
    open: () => open,
    async close() {
      const closed = once(server.close(), 'close');
      cut();
      await closed;
    },
  };
}
