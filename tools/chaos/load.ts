import { setTimeout as pause } from 'node:timers/promises';

import { followers, type Progress } from '../../test/kit/clients/followers.ts';
import { graphql, rest } from '../../test/kit/clients/requests.ts';
import { signedIn } from '../../test/kit/clients/sign-in.ts';

/** What clients have seen: each tries again until it is answered, as a client with an idempotency key may. */
export interface Seen {
  /** Idempotency key -> the task that was answered. */
  readonly tasks: Map<string, string>;
  /** Task -> every entry that its follower got, over all its connections. */
  readonly followed: Map<string, Progress[]>;
  /** Sessions that were paid on the hosted page. */
  readonly paid: Set<string>;
  /** Requests that were tried again, by what was answered. */
  readonly retried: Map<string, number>;
  /** Answers that report a fault of Kiln, or that a client may not repeat, with the time they came. */
  readonly refused: string[];
  /** Longest wait for an answer, and for the end of what is followed, in milliseconds. */
  readonly patienceMs: number;
  readonly followerPatienceMs: number;
}

export interface Load {
  readonly seen: Seen;
  /** Stops starting, and waits until everything started was answered and followed to its end. */
  finish(): Promise<void>;
}

/** What docs/errors.md says to repeat. INTERNAL and 500 are faults of Kiln, and fail a run. */
const MAY_REPEAT = new Set(['UNAVAILABLE', 'RATE_LIMITED', 'QUEUE_FULL']);
const MAY_REPEAT_STATUS = new Set([429, 503]);
const PATIENCE_MS = 180_000;
/** A task may have to wait through many faults, one after the other. */
const FOLLOWER_PATIENCE_MS = 900_000;

/** Longest time over one connection. */
const FOLLOWED_MS = 60_000;

/** An answer that a client may not repeat: not to be taken for a lost one. */
class NotToRepeat extends Error {}

/** Starts the load at both gateways: images over GraphQL and REST, some of them followed, and purchases. */
export async function startLoad(
  gateways: readonly string[],
  pauseMs: number | (() => number),
  patienceMs?: number,
): Promise<Load> {
  const seen: Seen = {
    tasks: new Map(),
    followed: new Map(),
    paid: new Set(),
    retried: new Map(),
    refused: [],
    patienceMs: patienceMs ?? PATIENCE_MS,
    followerPatienceMs: patienceMs ?? FOLLOWER_PATIENCE_MS,
  };
  const session = await signedIn(gateways[0] ?? '');
  const work = new Set<Promise<void>>();
  const stopping = new AbortController();
  const begin = (job: Promise<void>): void => {
    const noted = job.catch(
      (thrown: unknown) => void seen.refused.push(`${new Date().toISOString()} ${String(thrown)}`),
    );
    work.add(noted);
    void noted.then(() => work.delete(noted));
  };
  const running = (async () => {
    for (let number = 0; !stopping.signal.aborted; number += 1) {
      const order = gateways.map((_, index) => gateways[(number + index) % gateways.length] ?? '');
      begin(submit(order, number, seen));
      if (number % 10 === 5) begin(buy(order, number, session, seen));
      await pause(typeof pauseMs === 'number' ? pauseMs : pauseMs());
    }
  })();
  return {
    seen,
    async finish() {
      stopping.abort();
      await running;
      await Promise.all(work);
    },
  };
}

/** Tries at one gateway after the other until somebody answers. `ask` answers undefined when it has to be repeated. */
async function persist<Value>(
  gateways: readonly string[],
  seen: Seen,
  ask: (url: string) => Promise<Value | { readonly again: string }>,
  patienceMs = seen.patienceMs,
): Promise<Value> {
  const until = Date.now() + patienceMs;
  for (let attempt = 0; ; attempt += 1) {
    const url = gateways[attempt % gateways.length] ?? '';
    const answer = await ask(url).catch((thrown: unknown) => {
      if (thrown instanceof NotToRepeat) throw thrown;
      return { again: `no answer (${thrown instanceof Error ? thrown.name : 'unknown'})` };
    });
    if (!isAgain(answer)) return answer;
    const reason = answer.again;
    seen.retried.set(reason, (seen.retried.get(reason) ?? 0) + 1);
    if (Date.now() > until) throw new Error(`nobody answered in time: ${reason}`);
    await pause(300 + Math.random() * 700);
  }
}

function isAgain(answer: unknown): answer is { readonly again: string } {
  return typeof answer === 'object' && answer !== null && 'again' in answer;
}

async function submit(gateways: readonly string[], number: number, seen: Seen): Promise<void> {
  const key = `chaos-${number}`;
  const byRest = number % 2 === 0;
  const ask = () =>
    persist<string>(gateways, seen, (url) => (byRest ? restTask(url, key) : graphqlTask(url, key)));
  const id = await ask();
  seen.tasks.set(key, id);
  // As a client whose answer was lost.
  if (number % 4 > 1 && (await ask()) !== id) throw new Error(`${key} has two tasks`);
  if (number % 5 === 0) await follow(gateways, id, seen);
}

async function restTask(url: string, key: string): Promise<string | { again: string }> {
  const headers = { 'idempotency-key': key };
  const { status, body } = await rest(
    url,
    'POST',
    '/api/task/create/task',
    { task_type: 'tea', prompt: key },
    headers,
  );
  if (status === 200 && body.status === true) return String(body.data);
  if (MAY_REPEAT_STATUS.has(status)) return { again: `REST ${status}` };
  throw new NotToRepeat(`REST ${status}: ${JSON.stringify(body).slice(0, 200)}`);
}

async function graphqlTask(url: string, key: string): Promise<string | { again: string }> {
  const query = `mutation ($key: String!) {
    generateImage(input: { generator: "imga", prompt: $key }, idempotencyKey: $key) { id } }`;
  const answer = await graphql(url, query, { key });
  return answer.errors === undefined ? (answer.data.generateImage.id as string) : again(answer.errors);
}

function again(errors: readonly { message: string; extensions: Readonly<Record<string, unknown>> }[]) {
  const [error] = errors;
  const code = String(error?.extensions['code']);
  if (MAY_REPEAT.has(code)) return { again: `GraphQL ${code}` };
  throw new NotToRepeat(`GraphQL ${code}: ${error?.message} ${JSON.stringify(error?.extensions)}`);
}

/** Follows a task to its end, coming back with the last entry seen after each break. */
async function follow(gateways: readonly string[], taskId: string, seen: Seen): Promise<void> {
  const into: Progress[] = [];
  seen.followed.set(taskId, into);
  const isAtEnd = () => /SUCCEEDED|FAILED|CANCELLED/.test(into.at(-1)?.state ?? '');
  const once = async (url: string) => {
    const follower = followers['graphql-ws'](url, { taskId, afterSeq: into.at(-1)?.seq, into });
    const patience = new AbortController();
    // One that never gets a connection does not say either that it is over.
    const late = pause(FOLLOWED_MS, null, { signal: patience.signal }).catch(() => null);
    const reason = await Promise.race([follower.over, late]);
    patience.abort();
    follower.leave();
    if (reason !== null && /internal error|code 4500/.test(reason.message))
      throw new NotToRepeat(`stream: ${reason.message}`);
    return isAtEnd() ? true : { again: reason === null ? 'stream ended early' : 'stream broke' };
  };
  await persist(gateways, seen, once, seen.followerPatienceMs);
}

interface Session {
  readonly user: { readonly id: string };
  readonly access_token: string;
}

interface Checkout {
  readonly url: string;
  readonly sessionId: string;
}

/** Opens a checkout, pays on the hosted page; what follows is Kiln's. */
async function buy(gateways: readonly string[], number: number, session: Session, seen: Seen): Promise<void> {
  const query = `mutation ($user: ID!, $key: String!) {
    checkout(templateCode: "poster", userId: $user, parameters: { prompt: $key }, idempotencyKey: $key) { url sessionId } }`;
  const variables = { user: session.user.id, key: `chaos-${number}` };
  const headers = { authorization: `Bearer ${session.access_token}` };
  const { url: page, sessionId } = await persist<Checkout>(gateways, seen, async (url) => {
    const answer = await graphql(url, query, variables, headers);
    if (answer.errors !== undefined) return again(answer.errors);
    return answer.data.checkout as Checkout;
  });
  await persist([page], seen, async (url) => {
    const answer = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'do=card',
    });
    return answer.status === 303 || answer.status === 410 ? true : { again: `page ${answer.status}` };
  });
  seen.paid.add(sessionId);
}
