import { setTimeout as pause } from 'node:timers/promises';

import { Pool } from 'undici';

// Requests at given rates, whoever answers how fast: a caller does not wait for another's answer.

/** Kinds of requests. */
export type Kind = 'status' | 'read' | 'list' | 'plan' | 'catalog' | 'submit';

/** What is sent. */
export interface TrafficOrder {
  readonly url: string;
  readonly ms: number;
  /** Requests a second of each kind. */
  readonly rates: Readonly<Partial<Record<Kind, number>>>;
  /** Besides, one of these after the other over each of so many connections (default: none). */
  readonly inTurn?: { readonly kind: Kind; readonly connections: number };
  /** Headers of every request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Tasks that are read. */
  readonly ids: readonly string[];
}

/** What came of it. */
export interface Sent {
  readonly counts: Readonly<Partial<Record<Kind, number>>>;
  readonly failed: readonly string[];
  /** Milliseconds until the answer, of all kinds. */
  readonly p50: number;
  readonly p99: number;
  /** Tasks that were submitted. */
  readonly ids: readonly string[];
}

interface Request {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: object;
}

const TICK_MS = 10;
const TASK = 'task(id: $id) { id kind state stage progress createdAt endedAt }';
const LIST =
  '{ tasks(first: 50) { edges { node { id kind state progress createdAt outputs { id url contentType bytes width height } } } } }';
const CATALOG = '{ templatesConnection(first: 10) { edges { node { code } } } }';

process.on('message', (message) => {
  void send(message as TrafficOrder).then((answer) => process.send?.(answer));
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });

let number = 0;

function createRequest(kind: Kind, id: string): Request {
  number += 1;
  const graphql = (query: string, variables: object = {}): Request => ({
    method: 'POST',
    path: '/graphql',
    body: { query, variables },
  });
  if (kind === 'status') return { method: 'GET', path: `/api/task/status/${id}` };
  if (kind === 'read') return graphql(`query ($id: ID!) { ${TASK} }`, { id });
  if (kind === 'list') return graphql(LIST);
  // An operation that nobody has sent before: it is read, checked and planned.
  if (kind === 'plan') return graphql(`query New${process.pid}x${number}($id: ID!) { ${TASK} }`, { id });
  if (kind === 'catalog') return graphql(CATALOG);
  return { method: 'POST', path: '/api/agg/imga/async/generate/image?prompt=a%20teapot' };
}

async function send({ url, ms, rates, inTurn, headers = {}, ids }: TrafficOrder): Promise<Sent> {
  const pool = new Pool(url, { connections: 64 });
  const counts: Partial<Record<Kind, number>> = {};
  const times: number[] = [];
  const failed: string[] = [];
  const submitted: string[] = [];
  const one = async (kind: Kind, id: string): Promise<void> => {
    const { body, ...request } = createRequest(kind, id);
    const begun = performance.now();
    try {
      const sent =
        body === undefined
          ? { ...request, headers }
          : {
              ...request,
              body: JSON.stringify(body),
              headers: { 'content-type': 'application/json', ...headers },
            };
      const answer = await pool.request(sent);
      const text = await answer.body.text();
      times.push(performance.now() - begun);
      if (answer.statusCode !== 200 || text.includes('"errors"')) throw new Error(text.slice(0, 200));
      if (kind === 'submit') submitted.push(String((JSON.parse(text) as { data: unknown }).data));
    } catch (error) {
      failed.push(`${kind}: ${String(error)}`);
    }
  };
  const work: Promise<void>[] = [];
  const begun = performance.now();
  if (inTurn !== undefined) {
    const { kind, connections } = inTurn;
    const loops = Array.from({ length: connections }, async (_, first) => {
      for (let index = first; performance.now() - begun < ms; index += 1) {
        counts[kind] = (counts[kind] ?? 0) + 1;
        await one(kind, ids[index % ids.length] ?? '');
      }
    });
    work.push(...loops);
  }
  for (let at = 0; at < ms; at = performance.now() - begun) {
    for (const [kind, rate] of Object.entries(rates) as [Kind, number][]) {
      while ((counts[kind] ?? 0) < (at * rate) / 1000) {
        counts[kind] = (counts[kind] ?? 0) + 1;
        work.push(one(kind, ids[work.length % ids.length] ?? ''));
      }
    }
    await pause(TICK_MS);
  }
  await Promise.all(work);
  await pool.close();
  const sorted = times.toSorted((a, b) => a - b);
  const share = (of: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * of))] ?? 0;
  return { counts, failed: failed.slice(0, 3), p50: share(0.5), p99: share(0.99), ids: submitted };
}
