/** A WebSocket of GraphQL (graphql-transport-ws) without a network: what follows over it waits until a test sends an event. */

interface Followed {
  readonly socket: StandInSocket;
  readonly id: string;
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

const followed = new Set<Followed>();
/** Whether no socket can be opened. */
let isAway = false;

/** What stands for the browser's WebSocket. */
export class StandInSocket extends EventTarget {
  static readonly CONNECTING = 0;
  static readonly OPEN = 1;
  static readonly CLOSING = 2;
  static readonly CLOSED = 3;
  readonly protocol = 'graphql-transport-ws';
  readyState = 0;
  onopen: (() => void) | null = null;
  onmessage: ((event: { readonly data: string }) => void) | null = null;
  onclose: ((event: { readonly code: number; readonly reason: string }) => void) | null = null;
  onerror: (() => void) | null = null;

  constructor() {
    super();
    queueMicrotask(() => {
      if (isAway) return this.close(1006, 'away');
      this.readyState = 1;
      this.onopen?.();
    });
  }

  send(text: string): void {
    const {
      type,
      id = '',
      payload,
    } = JSON.parse(text) as {
      readonly type: string;
      readonly id?: string;
      readonly payload?: Pick<Followed, 'query' | 'variables'>;
    };
    if (type === 'connection_init') this.receive({ type: 'connection_ack' });
    if (type === 'ping') this.receive({ type: 'pong' });
    if (type === 'subscribe' && payload !== undefined) followed.add({ socket: this, id, ...payload });
    if (type === 'complete')
      for (const one of followed) if (one.socket === this && one.id === id) followed.delete(one);
  }

  receive(message: object): void {
    queueMicrotask(() => this.onmessage?.({ data: JSON.stringify(message) }));
  }

  close(code = 1000, reason = ''): void {
    if (this.readyState === 3) return;
    this.readyState = 3;
    for (const one of followed) if (one.socket === this) followed.delete(one);
    queueMicrotask(() => this.onclose?.({ code, reason }));
  }
}

const findFollowers = (field: string): readonly Followed[] =>
  [...followed].filter(({ query }) => new RegExp(`\\b${field}\\b`).test(query));

/** The sockets of the console that is open. */
export const sockets = {
  /** Sends an event to whoever follows a root field; answers how many do. */
  push(field: string, event: unknown): number {
    const those = findFollowers(field);
    for (const { socket, id } of those)
      socket.receive({ type: 'next', id, payload: { data: { [field]: event } } });
    return those.length;
  },
  /** The variables that a root field is followed with now. */
  followedWith: (field: string) => findFollowers(field).map(({ variables }) => variables),
  /** Whoever follows a root field has heard all of it. */
  end(field: string): void {
    for (const one of findFollowers(field)) {
      followed.delete(one);
      one.socket.receive({ type: 'complete', id: one.id });
    }
  },
  /** Nobody follows any more: what a console before left open is not counted as of the next one. */
  forget: (): void => followed.clear(),
  /** Every connection breaks; none is opened before `comeBack`, where the server is away. */
  break(leavesServerAway = false): void {
    isAway = leavesServerAway;
    for (const socket of new Set([...followed].map((one) => one.socket))) socket.close(1006, 'lost');
  },
  /** Connections can be opened again, and the browser knows it. */
  comeBack(): void {
    isAway = false;
    dispatchEvent(new Event('online'));
  },
};
