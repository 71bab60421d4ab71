import { request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

import { type AttackClass, type Attempt, modes, told, type World } from '../attack.ts';

/** Longest time that a slow body may last, and how long the honest one takes. */
const WITHIN_MS = 45_000;
const HONEST_MS = 24_000;

/** Bodies that come a byte a second, which would hold connections for days: ended, while a slow but honest upload passes. */
export const slowBodies: AttackClass = {
  name: 'slow bodies',
  modes,
  isQuick: false,
  async run(world) {
    const { port } = new URL(world.url);
    const posts = Array.from({ length: 40 }, () => slowBody(Number(port), '/graphql', 'application/json'));
    const uploads = Array.from({ length: 20 }, () =>
      slowBody(Number(port), '/api/file/upload', 'multipart/form-data; boundary=x'),
    );
    const honest = honestUpload(world);
    return [
      ...(await ended('posts', posts)),
      ...(await ended('uploads', uploads)),
      { what: 'an honest upload of 2 MB in 24 s meanwhile', ...(await honest) },
    ];
  },
};

async function ended(what: string, bodies: readonly Promise<number>[]): Promise<Attempt[]> {
  const seconds = Math.max(...(await Promise.all(bodies))) / 1_000;
  return [
    {
      what: `${bodies.length} slow ${what}`,
      answer: `all ended after ${seconds.toFixed(1)} s`,
      succeeded: seconds * 1_000 >= WITHIN_MS,
    },
  ];
}

/** Sends it from an address of its own; resolves with the milliseconds until the connection was ended. */
function slowBody(port: number, path: string, type: string): Promise<number> {
  const started = performance.now();
  const socket = connect({ host: '127.0.0.1', port, localAddress: '127.0.0.3' });
  const head = [`POST ${path} HTTP/1.1`, 'Host: kiln', `Content-Type: ${type}`, 'Content-Length: 900000'];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  const dripping = setInterval(() => socket.write(' '), 1_000);
  const givingUp = setTimeout(() => socket.destroy(), WITHIN_MS);
  return new Promise((resolve) => {
    socket.resume();
    socket.on('error', () => undefined);
    socket.once('close', () => {
      clearInterval(dripping);
      clearTimeout(givingUp);
      resolve(performance.now() - started);
    });
  });
}

/** By the administrator, whom no quota stops. */
async function honestUpload({ url, admin }: World): Promise<Omit<Attempt, 'what'>> {
  const head = '--x\r\nContent-Disposition: form-data; name="file"; filename="slow.bin"\r\n\r\n';
  const sending = request(`${url}/api/file/upload`, {
    method: 'POST',
    headers: { ...admin, 'content-type': 'multipart/form-data; boundary=x' },
    localAddress: '127.0.0.4',
  });
  const answered = new Promise<string>((resolve) => {
    sending.once('error', (error) => resolve(error.message));
    sending.once('response', (response) => {
      response.resume();
      resolve(String(response.statusCode));
    });
  });
  sending.write(head);
  for (let sent = 0; sent < 24; sent += 1) {
    sending.write(Buffer.alloc(83_334, 'x'));
    await pause(HONEST_MS / 24);
  }
  sending.end('\r\n--x--\r\n');
  const answer = await answered;
  return { answer: told(answer), succeeded: answer !== '200' };
}
