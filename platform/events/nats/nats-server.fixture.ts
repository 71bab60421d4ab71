import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';

import type { ServerOnPath } from '../../../test/kit/processes/server-on-path.ts';

/** What a client says of itself when it connects. */
export interface NatsClientWords {
  readonly user?: string;
  readonly pass?: string;
  readonly auth_token?: string;
  readonly name?: string;
}

/** A server that speaks as much of NATS' wire as the event bus uses: connecting, subjects without wildcards, and pings. */
export interface NatsStandIn extends ServerOnPath {
  /** What each client has said of itself. */
  readonly clients: readonly NatsClientWords[];
}

/** Starts it on a free port. It lets in whoever `admits` says. */
export async function startNatsStandIn(admits: (words: NatsClientWords) => boolean): Promise<NatsStandIn> {
  const clients: NatsClientWords[] = [];
  /** The subjects that each connection listens to, by the number it has given them. */
  const subscribed = new Map<Socket, Map<string, string>>();
  const publish = (subject: string, payload: string): void => {
    for (const [socket, subjects] of subscribed)
      for (const [number, name] of subjects)
        if (name === subject) say(socket, `MSG ${subject} ${number} ${payload.length}\r\n${payload}`);
  };
  const take = (socket: Socket, line: string): void => {
    const [verb = '', ...words] = line.split(' ');
    const [first = '', second = ''] = words;
    if (verb === 'CONNECT') {
      const said = JSON.parse(line.slice(verb.length)) as NatsClientWords;
      clients.push(said);
      if (admits(said)) return;
      say(socket, "-ERR 'Authorization Violation'");
      socket.end();
    } else if (verb === 'PING') say(socket, 'PONG');
    else if (verb === 'SUB') subscribed.get(socket)?.set(second, first);
    else if (verb === 'UNSUB') subscribed.get(socket)?.delete(first);
  };
  const serve = (socket: Socket): void => {
    let received = '';
    subscribed.set(socket, new Map());
    socket.on('error', () => socket.destroy());
    socket.once('close', () => subscribed.delete(socket));
    // One character for each byte, as lengths are of bytes.
    socket.setEncoding('latin1').on('data', (text: string) => {
      received += text;
      for (let end = received.indexOf('\r\n'); end >= 0; end = received.indexOf('\r\n')) {
        const line = received.slice(0, end);
        const [, subject, bytes] = /^PUB (\S+) (\d+)$/.exec(line) ?? [];
        const after = end + 2 + (bytes === undefined ? 0 : Number(bytes) + 2);
        if (received.length < after) return;
        if (subject === undefined) take(socket, line);
        else publish(subject, received.slice(end + 2, after - 2));
        received = received.slice(after);
      }
    });
    say(
      socket,
      `INFO ${JSON.stringify({ server_id: 'x', version: '2.10.0', proto: 1, max_payload: 1_000_000 })}`,
    );
  };
  const listen = async (at: number): Promise<Server> => {
    const listening = createServer(serve).listen(at, '127.0.0.1');
    await once(listening, 'listening');
    return listening;
  };
  let server = await listen(0);
  const { port } = server.address() as AddressInfo;
  const kill = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of subscribed.keys()) socket.destroy();
    await closed;
  };
  return { port, clients, kill, stop: kill, restart: async () => void (server = await listen(port)) };
}

function say(socket: Socket, words: string): void {
  if (socket.writable) socket.write(`${words}\r\n`, 'latin1');
}
