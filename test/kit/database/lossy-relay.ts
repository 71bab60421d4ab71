import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

import type { PoolConfig } from 'pg';

/** A database whose acknowledgements can be lost: what was asked has been committed, and the connection ends before the answer. */
export interface LossyRelay {
  /** DATABASE_URL of the database by way of this relay. */
  readonly url: string;
  /** Names of the statements that were sent so far: their comments, else how they begin. */
  readonly sent: ReadonlySet<string>;
  /** The names of those that are sent during some work. */
  sentDuring(work: () => Promise<unknown>): Promise<ReadonlySet<string>>;
  /** Loses the acknowledgement of the next statement of this name: of its transaction's commit, where it is part of one. */
  loseNext(name: string): void;
  /** Whether that has happened. */
  hasLost(): boolean;
  stop(): void;
}

const [PARSE, BIND, QUERY, READY] = ['P', 'B', 'Q', 'Z'].map((type) => type.charCodeAt(0));
/** The status of a connection that is in no transaction. */
const IDLE = 'I'.charCodeAt(0);

/** Starts a relay on a free port of 127.0.0.1. */
export async function startLossyRelay({ config }: { readonly config: PoolConfig }): Promise<LossyRelay> {
  const sent = new Set<string>();
  let lately = new Set<string>();
  let wanted: string | null = null;
  let hasLost = false;
  function carry(near: Socket, far: Socket): void {
    /** Names of the connection's prepared statements. */
    const prepared = new Map<string, string>();
    let isLosing = false;
    let held: Buffer[] = [];
    const toServer = messages(true, (message) => {
      const name = readName(message, prepared);
      if (name !== null) for (const names of [sent, lately]) names.add(name);
      if (name !== null && name === wanted) {
        wanted = null;
        isLosing = true;
      }
      far.write(message);
    });
    const toClient = messages(false, (message) => {
      held.push(message);
      if (message[0] !== READY && isLosing) return;
      if (message[0] === READY && isLosing && message[5] === IDLE) {
        hasLost = true;
        far.destroy();
        near.destroy();
        return;
      }
      for (const each of held) near.write(each);
      held = [];
    });
    near.on('data', toServer);
    far.on('data', toClient);
    for (const [socket, other] of [[near, far] as const, [far, near] as const]) {
      socket.on('error', () => undefined);
      socket.once('close', () => other.destroy());
    }
  }
  const server = createServer((near) => carry(near, connect(`${config.host}/.s.PGSQL.${config.port}`)));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `postgresql://${config.user}@127.0.0.1:${port}/${config.database}`,
    sent,
    async sentDuring(work) {
      lately = new Set();
      await work();
      return lately;
    },
    loseNext(name) {
      wanted = name;
      hasLost = false;
    },
    hasLost: () => hasLost,
    stop: () => void server.close(),
  };
}

/** Cuts a stream into PostgreSQL's messages; a client's first one has no type. */
function messages(isClient: boolean, take: (message: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
  let typeBytes = isClient ? 0 : 1;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= typeBytes + 4) {
      const length = typeBytes + rest.readInt32BE(typeBytes);
      if (rest.length < length) return;
      const message = rest.subarray(0, length);
      rest = rest.subarray(length);
      typeBytes = 1;
      take(message);
    }
  };
}

/** The name of the statement that a message begins; null of any other message. */
function readName(message: Buffer, prepared: Map<string, string>): string | null {
  const [first = '', second = ''] = message.toString('utf8', 5).split('\0', 2);
  if (message[0] === QUERY) return shortened(first);
  if (message[0] === PARSE) {
    prepared.set(first, shortened(second));
    return null;
  }
  return message[0] === BIND ? (prepared.get(second) ?? null) : null;
}

function shortened(text: string): string {
  const [, comment] = /^\s*\/\* (?:prepared: )?([\w.-]+) \*\//.exec(text) ?? [];
  return comment ?? text.trim().replaceAll(/\s+/g, ' ').slice(0, 60);
}
