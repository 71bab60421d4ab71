import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Logger } from '../platform/process/logger.ts';
import type { Faults } from './faults/faults.ts';
import { text, sendAnswer } from './http/answer.ts';
import { BodyTooLarge } from './http/listener.ts';
import type { Received } from './http/received.ts';
import { serveWire } from './http/serve-wire.ts';
import type { Wire, WireUpgrade } from './http/wire.ts';
import type { Upstreams } from './upstreams.ts';
import { serveUserPages, type UserPages } from './user-pages.ts';

/** First segment of every path of Stripe's API: its SDK can be given an origin only. */
const STRIPE_API = 'v1';
const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** The targets of routing. */
export interface Routing {
  /** Loaded by the first request to one of them: pages of sign-ins and payments do not wait for them. */
  readonly upstreams: () => Promise<Upstreams>;
  /** The platforms of mini-programs: a sign-in is not given the time that the upstreams may take to load. */
  readonly platforms: readonly Wire[];
  readonly faults: Faults;
  readonly received: Received;
  readonly origin: string;
  readonly userPages: UserPages | null;
  readonly logger: Logger;
}

/** An address by its first path segment; null for what is none, such as `//`. */
function parseAddress({ url: sent = '/' }: IncomingMessage, origin: string) {
  const url = URL.parse(sent, origin);
  if (url === null) return null;
  const [, mount = '', rest = ''] = /^\/([^/]*)(.*)$/.exec(url.pathname) ?? [];
  return { url, mount, rest };
}

/** Routes a WebSocket upgrade to its stand-in. */
export function upgrade(
  { wires, faults, origin }: Pick<Upstreams, 'wires'> & Pick<Routing, 'faults' | 'origin'>,
  { request, socket, head }: Pick<WireUpgrade, 'request' | 'socket' | 'head'>,
): void {
  const address = parseAddress(request, origin);
  const wire = address === null ? undefined : wires.get(address.mount);
  if (address === null || wire?.upgrade === undefined)
    return void socket.end('HTTP/1.1 404 Not Found\r\n\r\n');
  if (faults.take(wire.name, 'socket') !== null) return void socket.destroy();
  const { url, rest: path } = address;
  wire.upgrade({ path, query: url.searchParams, request, socket, head });
}

/** Routes a request by its first path segment: a stand-in's mount, or `_control`. */
export async function serve(
  serving: Routing,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const address = parseAddress(request, serving.origin);
  if (address === null) return sendAnswer(response, text('no such path', 404));
  const { url, mount, rest } = address;
  const { userPages: people, logger } = serving;
  if (
    people !== null &&
    serveUserPages(people, `${url.pathname}${url.search}`, { request, response, logger })
  )
    return;
  if (people !== null && mount === STRIPE_API) return people.stripe.serve(request, response);
  if (mount === '_control') return (await serving.upstreams()).control.serve(rest, request, response);
  const platform = serving.platforms.find((one) => one.mount === mount);
  const wire = platform ?? (await serving.upstreams()).wires.get(mount);
  if (wire === undefined) return sendAnswer(response, text(`no stand-in ${mount}`, 404));
  try {
    const { origin, faults, received } = serving;
    const path = rest;
    await serveWire(
      { wire, faults, received, origin, path, query: url.searchParams, maxBodyBytes: MAX_BODY_BYTES },
      request,
      response,
    );
  } catch (error) {
    if (!(error instanceof BodyTooLarge)) throw error;
    response.setHeader('connection', 'close');
    await sendAnswer(response, wire.refuse(413, error.message, undefined, rest));
  }
}
