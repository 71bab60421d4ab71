import { WebSocket } from 'ws';

import type { Bench } from '../bench.ts';
import { startProgram } from '../processes.ts';
import { computeCostRatio, formatFigures, measureInTurns, type Run, type Subject } from '../rounds.ts';
import { QUERIES } from './world.ts';

/** Subscriptions at the same time, each over a socket of its own, and how many events one is sent. */
const SUBSCRIBERS = 16;
const EVENTS = 250;

/** Events of a subscription that are joined from a second subgraph, against the same events from one alone. */
export const joinedEvents: Bench = {
  name: 'joined-events',
  async run(tools) {
    const server = await startProgram<{ url: string }>(new URL('server.ts', import.meta.url));
    tools.lifecycle.add('server', () => server.stop());
    const url = server.ready.url.replace('http', 'ws');
    const subject = (name: keyof typeof QUERIES): Subject => ({
      name,
      pid: server.pid,
      measure: (ms) => hearFor(ms, url, QUERIES[name]),
    });
    const rounds = await measureInTurns(tools, [subject('joined'), subject('plain')]);
    return [
      {
        what: 'event of a subscription, joined from a second subgraph',
        ours: formatFigures(rounds, 'joined'),
        baseline: `the same from one subgraph: ${formatFigures(rounds, 'plain')}`,
        ratio: { value: computeCostRatio(rounds, 'joined', 'plain'), target: 0.5 },
        note: `processor time of a delivery over graphql-ws to ${SUBSCRIBERS} subscribers, both subgraphs in the gateway's process`,
      },
    ];
  },
};

/** Subscribes again and again for so long; counts what was delivered. */
async function hearFor(ms: number, url: string, query: string): Promise<Run> {
  const startedAt = performance.now();
  let requests = 0;
  const subscriber = async (): Promise<void> => {
    while (performance.now() - startedAt < ms) requests += await hear(url, query);
  };
  await Promise.all(Array.from({ length: SUBSCRIBERS }, subscriber));
  return { requests, perSecond: (requests * 1000) / (performance.now() - startedAt) };
}

/** One subscription to its end; resolves to the events that came, all of which must have. */
function hear(url: string, query: string): Promise<number> {
  const socket = new WebSocket(url, 'graphql-transport-ws');
  let events = 0;
  return new Promise((resolve, reject) => {
    const failed = (what: string): void => reject(new Error(`after ${events} events: ${what}`));
    socket.on('error', reject);
    socket.on('close', (code) => (events === EVENTS ? resolve(events) : failed(`closed with ${code}`)));
    socket.on('open', () => socket.send('{"type":"connection_init"}'));
    socket.on('message', (data: Buffer) => {
      const text = data.toString();
      const { type } = JSON.parse(text) as { readonly type: string };
      if (type === 'ping') socket.send('{"type":"pong"}');
      else if (type === 'connection_ack') {
        const payload = { query, variables: { count: EVENTS } };
        socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload }));
      } else if (type === 'complete') socket.close();
      else if (type === 'next' && !text.includes('"errors"')) events += 1;
      else failed(text.slice(0, 300));
    });
  });
}
