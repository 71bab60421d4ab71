import { createClient } from 'graphql-ws';

import type { GraphRequest, KilnSocket } from './connection.ts';
import { type Answer, KilnError, type KilnErrorCode } from './errors.ts';

/** One WebSocket (graphql-ws) for everything that is followed, where an event stream each would be too many connections. */

/** What a socket reports. */
export interface SocketListener {
  /** It is open, for the first time or again. */
  readonly opened?: (() => void) | undefined;
  /** It broke, or could not be opened. */
  readonly lost?: (() => void) | undefined;
  /** It was closed on purpose: nothing is followed any more, or it is restarted. */
  readonly ended?: (() => void) | undefined;
}

/** How a socket is opened. */
export interface SocketOptions {
  /** Address of GraphQL at a Kiln, as wss://kiln.example.com/graphql, or a function that is asked for it before each connection. */
  readonly url: string | (() => string);
  /** A service key or access token, or a function that is asked for it before each connection. None: without a credential. */
  readonly key?: ConnectionKey | undefined;
  /** How often what is followed is begun again without an event between (default 8), after 0.5 s at first and 10 s at last. */
  readonly retries?: number | undefined;
  readonly on?: SocketListener | undefined;
  /** In place of the global WebSocket. */
  readonly webSocket?: unknown;
}

type Credential = string | null | undefined;
type ConnectionKey = Credential | (() => Credential | Promise<Credential>);

const PING_MS = 15_000;
/** A pong, or the acknowledgement of a connection, that takes longer will not come. */
const SILENT_MS = 5_000;
const ACKNOWLEDGED_MS = 30_000;
/** A socket that nothing is followed over is kept so long: a program that has ended waits for it. */
const IDLE_MS = 1_000;

/** Makes a socket for `createKiln({ socket })`. It is opened when something is followed. */
export function createSocket({ url, key, retries = 8, on = {}, webSocket }: SocketOptions): KilnSocket {
  let wasOpen = false;
  let isRestarted = false;
  let missingPong: ReturnType<typeof setTimeout> | undefined;
  const client = createClient({
    url,
    webSocketImpl: webSocket,
    keepAlive: PING_MS,
    lazyCloseTimeout: IDLE_MS,
    connectionAckWaitTimeout: ACKNOWLEDGED_MS,
    // What is followed begins again by itself, after the last event that it has seen.
    retryAttempts: 0,
    async connectionParams() {
      const credential = typeof key === 'function' ? await key() : key;
      return credential ? { authorization: `Bearer ${credential}` } : {};
    },
    on: {
      connecting: () => void (wasOpen = false),
      connected() {
        wasOpen = true;
        on.opened?.();
      },
      // A socket that a sleeping laptop has lost is closed by nobody: it is noticed by its missing pong.
      ping(isReceived) {
        if (isReceived) return;
        clearTimeout(missingPong);
        missingPong = setTimeout(() => client.terminate(), SILENT_MS);
      },
      pong: () => clearTimeout(missingPong),
      closed(event) {
        clearTimeout(missingPong);
        // What is closed on purpose is not lost; where nothing is followed, nothing opens it again.
        if (isRestarted || (event as Partial<CloseEvent>).code === 1000) on.ended?.();
        else on.lost?.();
      },
    },
  });
  return {
    retries,
    restart() {
      isRestarted = true;
      client.terminate();
      isRestarted = false;
    },
    close: async () => client.dispose(),
    open: (asked) => streamAnswers(client, asked, () => wasOpen),
  };
}

/** Answers that may wait to be read; with more it is begun again where the reader is. */
const MOST_WAITING = 10_000;

async function* streamAnswers(
  client: ReturnType<typeof createClient>,
  { query, variables, signal }: GraphRequest,
  wasOpen: () => boolean,
): AsyncGenerator<Answer, void, undefined> {
  const waiting: Answer[] = [];
  let end: { readonly error?: unknown } | undefined;
  let wake: (() => void) | undefined;
  const finish = (as: { readonly error?: unknown }) => {
    end ??= as;
    wake?.();
  };
  const leave = client.subscribe(
    { query, variables: { ...variables } },
    {
      next(answer) {
        if (end !== undefined) return;
        if (waiting.length < MOST_WAITING) waiting.push(answer as Answer);
        else finish({ error: new KilnError('UNREACHABLE', 'events came faster than they are read') });
        wake?.();
      },
      error(error) {
        if (Array.isArray(error)) waiting.push({ errors: error });
        finish(Array.isArray(error) ? {} : { error: toError(error, wasOpen()) });
      },
      complete: () => finish({}),
    },
  );
  const abort = () => finish({ error: signal?.reason });
  signal?.addEventListener('abort', abort);
  try {
    signal?.throwIfAborted();
    for (;;) {
      for (let answer = waiting.shift(); answer !== undefined; answer = waiting.shift()) yield answer;
      if (end?.error !== undefined) throw end.error;
      if (end !== undefined) return;
      await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    signal?.removeEventListener('abort', abort);
    leave();
  }
}

/** Close codes that say something; a credential that ends closes a socket that was open, and the next one may have its successor. */
const REFUSALS: Readonly<Record<number, KilnErrorCode>> = { 4403: 'UNAUTHENTICATED', 4429: 'RATE_LIMITED' };

function toError(cause: unknown, wasOpen: boolean): KilnError {
  const { code = 0, reason = '' } = cause as Partial<CloseEvent>;
  const refused = wasOpen ? undefined : REFUSALS[code];
  return new KilnError(refused ?? 'UNREACHABLE', reason || 'the socket broke', { cause });
}
