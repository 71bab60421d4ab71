import { type Client, createClient } from 'graphql-ws';
import { WebSocket } from 'ws';

import { internalCaller } from '../../access/caller.ts';
import type { Endpoint } from '../../http/endpoints/endpoint-health.ts';
import type { Endpoints } from '../../http/endpoints/endpoints.ts';
import type { TlsFiles } from '../../http/endpoints/failover.ts';
import { newTraceId } from '../../ids.ts';
import { CALLER_EXTENSION, type CallerSigner } from '../assertions/caller-assertion.ts';

/** The graphql-ws clients of a remote link, a few to each process. */
export type SocketClients = ReturnType<typeof createSocketClients>;

/** What is sent in one caller's name: with the upgrade, and in connection_init. */
export interface SocketCredentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly params: Readonly<Record<string, string>>;
}

interface SocketClient {
  readonly client: Client;
  /** How many connections it has made, and whether one is open. */
  readonly connections: () => { readonly made: number; readonly isOpen: boolean };
  /** Gives it back; further calls do nothing. */
  readonly dispose: () => void;
}

/** A client that several subscriptions share. */
interface Shared {
  readonly own: SocketClient;
  /** Subscriptions that have it. */
  users: number;
}

export interface SocketClientsOptions {
  readonly endpoints: Endpoints;
  readonly sign: CallerSigner | undefined;
  readonly timeoutMs: number;
  readonly maxMessageBytes: number;
  /** Certificates (default: those of the system). */
  readonly tls?: TlsFiles | undefined;
}

/** Interval of pings; a subgraph that does not answer one within the timeout counts as lost. */
const KEEP_ALIVE_MS = 10_000;
/** Time that the connection stays open after the last subscription. */
const LINGER_MS = 5_000;
/** Subscriptions over one connection before there is another one, and most connections to a process; they then share evenly. */
const FEW_USERS = 250;
const MAX_CLIENTS = 8;

/** Makes the clients; each connects with its first subscription. */
export function createSocketClients(options: SocketClientsOptions) {
  const shared = new Map<Endpoint, Shared[]>();
  // What still runs there goes on; its connection closes with the last subscription.
  options.endpoints.onGone((endpoint) => void shared.delete(endpoint));
  const open = new Set<SocketClient>();
  const make = (endpoint: Endpoint, credentials?: SocketCredentials): SocketClient => {
    const made: SocketClient = createSocketClient(endpoint, {
      ...options,
      credentials,
      onOpen: () => void open.add(made),
      onClosed: () => void open.delete(made),
    });
    return made;
  };
  return {
    /**
     * A client to this process for one subscription, until its `dispose`: the least busy of those that all share, or another
     * one where all are busy. With credentials of a caller one of its own.
     */
    to(endpoint: Endpoint, credentials: SocketCredentials | undefined): SocketClient {
      if (credentials !== undefined) {
        const own = make(endpoint, credentials);
        return { ...own, dispose: () => void endClient(own.client) };
      }
      const known = shared.get(endpoint) ?? [];
      shared.set(endpoint, known);
      const taken = leastBusy(known) ?? { own: make(endpoint), users: 0 };
      if (!known.includes(taken)) known.push(taken);
      return lend(taken);
    },
    async close(): Promise<void> {
      const all = [...shared.values()].flat().map(({ own }) => own);
      await Promise.all([...new Set([...all, ...open])].map(({ client }) => endClient(client)));
    },
  };
}

/** Ends a client, also one that is still connecting: how that fails is of no use to anybody any more. */
export async function endClient(client: Pick<Client, 'dispose'>): Promise<void> {
  await Promise.resolve(client.dispose()).catch(() => undefined);
}

/** The one with the fewest users; undefined when there should be another one. */
function leastBusy(known: readonly Shared[]): Shared | undefined {
  const [first, ...others] = known;
  if (first === undefined) return undefined;
  const least = others.reduce((found, one) => (one.users < found.users ? one : found), first);
  return least.users >= FEW_USERS && known.length < MAX_CLIENTS ? undefined : least;
}

function lend(taken: Shared): SocketClient {
  let isLent = true;
  taken.users += 1;
  return {
    ...taken.own,
    dispose() {
      if (isLent) taken.users -= 1;
      isLent = false;
    },
  };
}

interface SocketClientOptions extends SocketClientsOptions {
  readonly credentials: SocketCredentials | undefined;
  readonly onOpen: () => void;
  readonly onClosed: () => void;
}

function createSocketClient(endpoint: Endpoint, options: SocketClientOptions): SocketClient {
  const { endpoints, sign, timeoutMs, maxMessageBytes, credentials, tls } = options;
  let socket: WebSocket | undefined;
  let pongTimer: NodeJS.Timeout | undefined;
  let made = 0;
  let isOpen = false;
  // graphql-ws calls it with `new`; this way our limits reach its WebSocket.
  const webSocketImpl = Object.assign(
    function BoundedWebSocket(address: string, protocol: string) {
      const opened = new WebSocket(address, protocol, {
        maxPayload: maxMessageBytes,
        handshakeTimeout: timeoutMs,
        headers: { ...credentials?.headers },
        ...tls,
        ...(endpoint.lookup && { lookup: endpoint.lookup }),
      });
      socket = opened;
      const terminate = () => opened.terminate();
      const lost = endpoint.lost();
      lost.addEventListener('abort', terminate, { once: true });
      opened.once('close', () => lost.removeEventListener('abort', terminate));
      return opened;
    },
    { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 },
  );
  const client = createClient({
    url: endpoint.origin.replace(/^http/, 'ws') + endpoints.path,
    webSocketImpl,
    connectionParams: async () => {
      const target = { method: 'CONNECT', path: endpoints.path, body: null } as const;
      const asserted = await sign?.(internalCaller(newTraceId()), target);
      return asserted === undefined ? { ...credentials?.params } : { [CALLER_EXTENSION]: asserted };
    },
    lazy: true,
    lazyCloseTimeout: LINGER_MS,
    connectionAckWaitTimeout: timeoutMs,
    retryAttempts: 0,
    keepAlive: KEEP_ALIVE_MS,
    on: {
      connected() {
        made += 1;
        isOpen = true;
        options.onOpen();
      },
      ping: (received) => {
        // Of this connection: the next one has a socket of its own.
        const asked = socket;
        if (!received) pongTimer = setTimeout(() => asked?.terminate(), timeoutMs);
      },
      pong: (received) => {
        if (received) clearTimeout(pongTimer);
      },
      closed() {
        isOpen = false;
        clearTimeout(pongTimer);
        options.onClosed();
      },
    },
  });
  return { client, connections: () => ({ made, isOpen }), dispose: () => {} };
}
