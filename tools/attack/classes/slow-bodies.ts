import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

import { type AttackClass, modes } from '../attack.ts';

/** Of one address, within its CONNECTION_LIMIT; another than that of all other attempts. */
const FROM = '127.0.0.3';
const POSTS = 30;
const UPLOADS = 15;
const DRIP_MS = 2_000;
/** 20 seconds of grace, a look every five, and a machine that has other things to do. */
const LONGEST_MS = 45_000;

/** Bodies that never end hold a connection no longer than half a minute, while an honest slow one passes. */
export const slowBodies: AttackClass = {
  name: 'slow bodies',
  modes,
  isQuick: false,
  async run({ url, admin }) {
    const json = ['Content-Type: application/json', 'Content-Length: 900000'];
    const form = ['Content-Type: multipart/form-data; boundary=x', 'Content-Length: 900000'];
    const slow = [
      ...Array.from({ length: POSTS }, () => drip(url, { path: '/graphql', head: json })),
      ...Array.from({ length: UPLOADS }, () => drip(url, { path: '/api/file/upload', head: form })),
    ];
    const [honest, ...ends] = await Promise.all([upload(url, admin), ...slow]);
    const held = ends.filter(({ seconds }) => seconds * 1_000 >= LONGEST_MS).length;
    const longest = Math.max(...ends.map(({ seconds }) => seconds));
    const answers = [...new Set(ends.map(({ answer }) => answer))].join(', ');
    return [
      {
        what: `${slow.length} bodies of a byte every two seconds`,
        answer: `${answers}; the last ended after ${longest} s`,
        succeeded: held > 0,
      },
      { what: 'an upload of 25 s meanwhile', answer: honest, succeeded: !/ 200 /.test(honest) },
    ];
  },
};

interface Slow {
  readonly path: string;
  readonly head: readonly string[];
}

/** Sends a byte now and then until the connection ends. */
function drip(url: string, { path, head }: Slow): Promise<{ answer: string; seconds: number }> {
  const { port, host } = new URL(url);
  const socket = connect({ host: '127.0.0.1', port: Number(port), localAddress: FROM });
  const started = performance.now();
  let answer = '';
  socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
  socket.on('error', () => undefined);
  socket.write([`POST ${path} HTTP/1.1`, `Host: ${host}`, ...head, '', ''].join('\r\n'));
  const byte = setInterval(() => socket.write(' '), DRIP_MS);
  const end = setTimeout(() => socket.destroy(), LONGEST_MS);
  return new Promise((resolve) =>
    socket.once('close', () => {
      clearInterval(byte);
      clearTimeout(end);
      resolve({
        answer: answer.split('\r\n', 1)[0] ?? '',
        seconds: Math.round((performance.now() - started) / 1_000),
      });
    }),
  );
}

/** A file of 100 kB at 4 kB a second: longer than the grace, faster than the rate. */
async function upload(url: string, headers: Readonly<Record<string, string>>): Promise<string> {
  const { port, host } = new URL(url);
  const socket = connect({ host: '127.0.0.1', port: Number(port), localAddress: FROM });
  let answer = '';
  socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
  socket.on('error', () => undefined);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const part =
    '--x\r\nContent-Disposition: form-data; name="file"; filename="slow.txt"\r\nContent-Type: text/plain\r\n\r\n';
  const body = `${part}${'x'.repeat(100_000)}\r\n--x--\r\n`;
  const head = [
    'POST /api/file/upload HTTP/1.1',
    `Host: ${host}`,
    `Authorization: ${headers['authorization']}`,
    'Content-Type: multipart/form-data; boundary=x',
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  socket.write([...head, '', ''].join('\r\n'));
  for (let sent = 0; sent < body.length && !socket.destroyed; sent += 1_000) {
    socket.write(body.slice(sent, sent + 1_000));
    await pause(250);
  }
  await closed;
  return answer.split('\r\n', 1)[0] ?? '';
}
