import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

// Requests that are all sent at once, each over a connection of its own, and again for as long as their answer says so.

/** What is sent. */
export interface RequestsOrder {
  readonly url: string;
  readonly count: number;
  /** Paths of reads, in turns; absent: submissions, each with a key of its own. */
  readonly paths?: readonly string[];
}

/** How it was answered. */
export interface Answered {
  /** Requests that were answered well at last. */
  readonly done: number;
  readonly p50: number;
  readonly p99: number;
  readonly last: number;
  /** All other answers and failures, by what they were. */
  readonly others: Readonly<Record<string, number>>;
  /** Answers to submissions. */
  readonly ids: readonly string[];
}

const PATIENCE_MS = 120_000;
/** One image: a task with one step. */
const SUBMIT = '/api/agg/imga/async/generate/image?prompt=a%20teapot';

process.on('message', (message) => {
  void run(message as RequestsOrder).then((answer) => process.send?.(answer));
});
process.on('disconnect', () => process.exit(0));
process.send?.({ ready: true });

async function run({ url, count, paths }: RequestsOrder): Promise<Answered> {
  const agent = new Agent({ keepAlive: true, maxSockets: Infinity });
  const others = new Map<string, number>();
  const times: number[] = [];
  const ids: string[] = [];
  const begun = performance.now();
  const one = async (index: number): Promise<void> => {
    const path = paths?.[index % paths.length];
    while (performance.now() - begun < PATIENCE_MS) {
      const { what, retryAfter, text } = await send(agent, url, path, `${begun}-${index}`);
      const isWell = what === '200' && (JSON.parse(text) as { status?: unknown }).status !== false;
      if (isWell) {
        times.push(performance.now() - begun);
        if (path === undefined) ids.push(String((JSON.parse(text) as { data: unknown }).data));
        return;
      }
      const told = retryAfter === null ? 'without Retry-After' : 'with Retry-After';
      const why = `${what} ${/^\d/.test(what) ? told : ''}`.trim();
      others.set(why, (others.get(why) ?? 0) + 1);
      await pause((retryAfter ?? 1) * 1000 + Math.random() * 1000);
    }
  };
  await Promise.all(Array.from({ length: count }, (_, index) => one(index)));
  agent.destroy();
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN) / 1000;
  return {
    done: times.length,
    p50: at(0.5),
    p99: at(0.99),
    last: at(1),
    others: Object.fromEntries(others),
    ids,
  };
}

function send(
  agent: Agent,
  url: string,
  path: string | undefined,
  key: string,
): Promise<{ what: string; retryAfter: number | null; text: string }> {
  const { promise, resolve } = Promise.withResolvers<{
    what: string;
    retryAfter: number | null;
    text: string;
  }>();
  const failed = (error: NodeJS.ErrnoException): void =>
    resolve({ what: error.code ?? error.message, retryAfter: null, text: '' });
  const headers = { 'idempotency-key': key };
  const options = path === undefined ? { method: 'POST', headers } : { method: 'GET' };
  const sent = request(`${url}${path ?? SUBMIT}`, { ...options, agent }, (response) => {
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    response.on('error', failed);
    response.on('end', () => {
      const after = response.headers['retry-after'];
      resolve({
        what: String(response.statusCode),
        retryAfter: after === undefined ? null : Number(after),
        text,
      });
    });
  });
  sent.on('error', failed);
  sent.end();
  return promise;
}
