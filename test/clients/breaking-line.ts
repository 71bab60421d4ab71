import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A line to a Kiln that can be cut. */
export interface BreakingLine {
  readonly url: string;
  /** How many connections were made. */
  readonly connections: () => number;
  /** Cuts every connection after an answer has said this, so often. */
  cutAfter(text: string, times?: number): void;
  /** Cuts every connection that is open now. */
  cut(): void;
  /** Cuts before the answer to a request that says this comes back. */
  cutInPlaceOfAnswer(text: string): void;
  stop(): Promise<void>;
}

/** Starts a line on a free port of 127.0.0.1. */
export async function startBreakingLine(target: string): Promise<BreakingLine> {
  const { port, hostname } = new URL(target);
  const sockets = new Set<Socket>();
  let made = 0;
  let after = { text: '', times: 0 };
  let asked: string | undefined;
  const server = createServer((near) => {
    made += 1;
    let isSilent = false;
    const far = connect(Number(port), hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        sockets.delete(socket);
        near.destroy();
        far.destroy();
      });
    }
    near.on('data', (chunk: Buffer) => {
      if (asked !== undefined && chunk.includes(asked)) {
        asked = undefined;
        isSilent = true;
      }
      far.write(chunk);
    });
    far.on('data', (chunk: Buffer) => {
      if (isSilent) {
        near.destroy();
        return;
      }
      near.write(chunk, () => {
        if (after.times === 0 || !chunk.includes(after.text)) return;
        after.times -= 1;
        near.destroy();
      });
    });
  });
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => made,
    cutAfter: (text, times = 1) => void (after = { text, times }),
    cutInPlaceOfAnswer: (text) => void (asked = text),
    cut,
    async stop() {
      cut();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
