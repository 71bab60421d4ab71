import { connect } from 'node:net';

/** HTTP as bytes: what no client library would let through is sent as it is. */

/** A request before it is on the wire. Texts are sent byte by byte (latin1). */
export interface Message {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
  /** Content-Length is right unless it is said to be something else; `none` leaves it out. */
  readonly length?: number | 'none' | undefined;
}

export interface Answer {
  readonly status: number;
  /** By lower-case name; the last one of several. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Sends it on a connection of its own. Null: no answer came within the time, or none that is HTTP. */
export async function send(
  { host, port }: { readonly host: string; readonly port: number },
  message: Message,
  timeoutMs = 30_000,
): Promise<Answer | null> {
  const bytes = await new Promise<Buffer>((resolve) => {
    const chunks: Buffer[] = [];
    const socket = connect({ host, port });
    const end = (): void => {
      clearTimeout(timer);
      socket.destroy();
      resolve(Buffer.concat(chunks));
    };
    const timer = setTimeout(end, timeoutMs);
    socket
      .on('data', (chunk) => chunks.push(chunk))
      .on('error', end)
      .on('close', end);
    // Half closed where the body is shorter than announced: otherwise both sides would wait.
    const isShort = typeof message.length === 'number' && message.length > message.body.length;
    socket.write(encode(message, `${host}:${port}`));
    if (isShort) socket.end();
  });
  return parse(bytes, message.method);
}

function encode({ method, target, headers, body, length = body.length }: Message, host: string): Buffer {
  const named = new Set(headers.map(([name]) => name.toLowerCase()));
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...(named.has('host') ? [] : [`Host: ${host}`]),
    'Connection: close',
    ...(length === 'none' ? [] : [`Content-Length: ${length}`]),
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), body]);
}

function parse(bytes: Buffer, method: string): Answer | null {
  const text = bytes.toString('latin1');
  const end = text.indexOf('\r\n\r\n');
  const [first = '', ...lines] = text.slice(0, end === -1 ? text.length : end).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1]);
  if (!Number.isInteger(status)) return null;
  // `Expect: 100-continue` is answered twice.
  if (status === 100) return parse(bytes.subarray(end + 4), method);
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  const body = end === -1 || method === 'HEAD' ? Buffer.alloc(0) : bytes.subarray(end + 4);
  const isChunked = headers.get('transfer-encoding') === 'chunked';
  return { status, headers, body: (isChunked ? unchunked(body) : body).toString('utf8') };
}

/** What the chunks of a body have; one that broke off as far as it came. */
function unchunked(body: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length;) {
    const end = body.indexOf('\r\n', at);
    const length = end === -1 ? 0 : Number.parseInt(body.toString('latin1', at, end), 16);
    if (!(length > 0)) break;
    pieces.push(body.subarray(end + 2, end + 2 + length));
    at = end + 2 + length + 2;
  }
  return Buffer.concat(pieces);
}
