import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

import { request } from 'undici';

import { extent } from '../../../test/kit/extent.ts';
import { routeCall, sendRoute } from '../../../test/policy/rest-calls.ts';
import { type AttackClass, type Attempt, modes, told } from '../attack.ts';
import { policy } from '../policy.ts';
import { transports } from '../transports.ts';

const CONNECTIONS = 500;
/** CONNECTION_LIMIT of the worlds. */
const LIMIT = 250;
const LONGEST_MS = 15_000;

/** One address that opens more connections than it may: the rest is refused, and another address is served. */
export const floods: AttackClass = {
  name: 'floods',
  modes,
  isQuick: false,
  async run({ url }) {
    const { port } = new URL(url);
    const open = await Promise.all(
      Array.from({ length: CONNECTIONS }, () => openFrom('127.0.0.1', Number(port))),
    );
    const isOpen = (socket: Socket) => !socket.destroyed && socket.readyState === 'open';
    let kept = CONNECTIONS;
    // The server closes the rest as soon as it sees them; the time is that of a machine which has other things to do.
    for (const end = Date.now() + LONGEST_MS; Date.now() < end && kept > LIMIT;) {
      await pause(50);
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
        succeeded: kept > LIMIT,
      },
      { what: 'another address meanwhile', answer: other, succeeded: !other.startsWith('HTTP/1.1 200') },
      { what: 'afterwards', answer: String(after.statusCode), succeeded: after.statusCode !== 200 },
    ];
  },
};

const RESETS = extent(3_000, 30_000);
const AT_ONCE = 8;
const SLOW_QUERY =
  '{ tasks(first: 50) { edges { node { id state outputs { url } } } } task(id: "0199aaaa-0000-7000-8000-000000000000") { id } }';

const SUBSCRIPTION = 'subscription { taskProgress(id: "0199aaaa-0000-7000-8000-000000000000") { seq } }';
const EVENTS = 'text/event-stream';
const PARTS = 'multipart/mixed;subscriptionSpec="1.0", application/json';
const OPENED = [
  [EVENTS, SLOW_QUERY],
  [EVENTS, SUBSCRIPTION],
  [PARTS, SUBSCRIPTION],
] as const;

/** One address that hangs up while its streams are being opened: none of its slots stays taken. */
export const resets: AttackClass = {
  name: 'resets',
  modes,
  isQuick: false,
  async run({ url }) {
    const port = Number(new URL(url).port);
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (let sent = 0; sent < RESETS / AT_ONCE; sent += 1) {
          const [accept, query] = OPENED[sent % OPENED.length] ?? OPENED[0];
          await reset(port, streamRequest(accept, query), sent % 7);
        }
      }),
    );
    const attempts = [EVENTS, PARTS].map(async (accept) => {
      const stream = await request(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept },
        body: JSON.stringify({ query: SUBSCRIPTION }),
      });
      await stream.body.dump();
      return {
        what: `a stream of ${accept.slice(0, 17)} after ${RESETS} that were reset`,
        answer: String(stream.statusCode),
        succeeded: stream.statusCode !== 200,
      };
    });
    return Promise.all(attempts);
  },
};

function streamRequest(accept: string, query: string): string {
  const body = JSON.stringify({ query });
  return `POST /graphql HTTP/1.1\r\nHost: kiln\r\nContent-Type: application/json\r\nAccept: ${accept}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** Sends a request and resets its connection after some milliseconds. */
function reset(port: number, text: string, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.write(text, () => setTimeout(() => socket.resetAndDestroy(), ms));
    });
    socket.on('error', () => undefined);
    socket.on('close', () => resolve());
  });
}

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

const START = 'mutation { createTask(taskType: "tea", prompt: "more") { id } }';
const CHAT =
  'subscription { chatStream(idempotencyKey: "more", input: { generator: "llm", messages: [{ role: "user", content: "more" }] }) { seq } }';

/** Every start is answered, and at once on a machine that has nothing else to do. */
const LONGEST_ANSWER_MS = 60_000;
const DOOR_TRIES = 3;

/** A caller who has started what they may in a minute starts no more by another door. */
export const starts: AttackClass = {
  name: 'floods of starts',
  modes,
  isQuick: true,
  async run({ url, slowKey }) {
    const attempts: Attempt[] = [];
    const sendStart = async () => (await transports['HTTP']?.(url, START, slowKey)) ?? '';
    const tried = async (what: string, door: () => Promise<Answer>): Promise<void> => {
      let answer = await door();
      // A minute may have ended meanwhile, which gives three starts more: an open door lets through again, straight after a refusal.
      for (let times = 1; times < DOOR_TRIES && !answer.isRefused; times += 1) {
        for (let more = 0; more < 4 && !isLimited(await sendStart()); more += 1);
        answer = await door();
      }
      attempts.push({ what, answer: answer.text, succeeded: !answer.isRefused });
    };
    const many = `mutation { ${Array.from({ length: 20 }, (_, index) => `a${index}: createTask(taskType: "tea", prompt: "more") { id }`).join(' ')} }`;
    const aliases = (await transports['HTTP']?.(url, many, slowKey)) ?? '';
    const started = aliases.match(/"id":/g)?.length ?? 0;
    attempts.push({
      what: '20 starts in one request',
      answer: `${started} started: ${told(aliases)}`,
      succeeded: started > 3,
    });
    for (let index = started; index < 3; index += 1) await sendStart();
    for (const [over, send] of Object.entries(transports)) {
      for (const query of over === 'HTTP' ? [START] : [START, CHAT]) {
        await tried(`${query.slice(0, 30)} over ${over}`, async () => {
          const answer = await send(url, query, slowKey, LONGEST_ANSWER_MS);
          return { text: told(answer), isRefused: isLimited(answer) };
        });
      }
    }
    for (const route of policy.routes) {
      // Uploads count as writes, also those that come before work.
      const isStart =
        (route.rule === 'spend' || route.rule === 'unpaid') && !route.route.path.endsWith('/upload');
      if (!isStart) continue;
      const { method, path } = route.route;
      await tried(`${method} ${path}`, async () => {
        const { status, body } = await sendRoute(url, routeCall(route, { userId: 'none' }), slowKey);
        return { text: `${status} ${told(body)}`, isRefused: status === 429 };
      });
    }
    return attempts;
  },
};

interface Answer {
  readonly text: string;
  readonly isRefused: boolean;
}

const isLimited = (answer: string): boolean => answer.includes('RATE_LIMITED');
