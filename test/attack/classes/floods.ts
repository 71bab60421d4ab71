import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

import { request } from 'undici';

import { type AttackClass, modes } from '../attack.ts';

const CONNECTIONS = 300;

/** One address that opens more connections than it may: the rest is refused, and another address is served. */
export const floods: AttackClass = {
  name: 'floods',
  modes: modes.filter((mode) => mode !== 'split'),
  isQuick: false,
  async run({ url }) {
    const { port } = new URL(url);
    const open = await Promise.all(
      Array.from({ length: CONNECTIONS }, () => openFrom('127.0.0.1', Number(port))),
    );
    const isOpen = (socket: Socket) => !socket.destroyed && socket.readyState === 'open';
    let kept = CONNECTIONS;
    for (let waited = 0; waited < 50 && kept > 150; waited += 1) {
      await pause(100);
      kept = open.filter(isOpen).length;
    }
    const other = await served('127.0.0.2', Number(port));
    for (const socket of open) socket.destroy();
    const after = await request(`${url}/healthz`);
    await after.body.dump();
    return [
      {
        what: `${CONNECTIONS} connections of one address`,
        answer: `${kept} stay open`,
        succeeded: kept > 150,
      },
      { what: 'another address meanwhile', answer: other, succeeded: !other.startsWith('HTTP/1.1 200') },
      { what: 'afterwards', answer: String(after.statusCode), succeeded: after.statusCode !== 200 },
    ];
  },
};

function openFrom(localAddress: string, port: number): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, localAddress });
    socket.once('connect', () => {
      socket.write('GET /graphql HTTP/1.1\r\nHost: kiln\r\nX-Slow: ');
      resolve(socket);
    });
    socket.on('error', () => resolve(socket));
    socket.on('close', () => resolve(socket));
    socket.resume();
  });
}

function served(localAddress: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, localAddress });
    socket.write('GET /healthz HTTP/1.1\r\nHost: kiln\r\nConnection: close\r\n\r\n');
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.on('error', (error) => resolve(error.message));
    socket.on('close', () => resolve(text.slice(0, 40)));
  });
}
