import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Ports for programs of their own. They are below those that systems give to connections and to servers on port 0, which others take meanwhile. */

const FIRST = 20_000;
const LAST = 32_000;
const MOST_TRIES = 200;

/** Ports that nobody used a moment ago. */
export async function freePorts(count: number): Promise<number[]> {
  const held: { readonly port: number; readonly server: Server }[] = [];
  for (let tries = 0; held.length < count && tries < MOST_TRIES; tries += 1) {
    const port = randomInt(FIRST, LAST);
    const server = createServer();
    // oxlint-disable-next-line eslint/no-await-in-loop -- a port that is taken is found out by trying
    if (await listens(server, port)) held.push({ port, server });
  }
  await Promise.all(held.map(({ server }) => once(server.close(), 'close')));
  if (held.length < count) throw new Error('no free port was found');
  return held.map(({ port }) => port);
}

function listens(server: Server, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => resolve(true));
  });
}
