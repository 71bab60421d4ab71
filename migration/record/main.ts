import { appendFile } from 'node:fs/promises';
import type { AddressInfo, Socket } from 'node:net';
import { parseArgs } from 'node:util';

import { httpAddress, integer } from '../../platform/config/settings/formats.ts';
import { toError } from '../../platform/errors.ts';
import type { Exchange } from '../traffic/exchange.ts';
import { removeSecrets } from '../traffic/secrets.ts';
import { createRecordingProxy } from './proxy.ts';

// `npm run record`: stands before a service, passes everything on unchanged, and writes each request with its answer as
// one line of JSON, without secrets.

const USAGE = 'npm run record -- --to URL --out FILE [--port 4100] [--host 127.0.0.1]\n';
const DEFAULT_PORT = '4100';
const PORT = integer(0, 65_535);
/** Milliseconds between the signal to stop and the end of what is still open. */
const GRACE_MS = 1_000;

const { to, out, port, host } = optionsOrExit();
let recorded = 0;
/** One line after the other, in the order of their ends. */
let written: Promise<unknown> = Promise.resolve();
/** Also of WebSockets, which the server forgets. */
const sockets = new Set<Socket>();

const server = createRecordingProxy({
  to,
  onExchange(exchange) {
    written = written.then(() => write(exchange)).catch(giveUp);
  },
  onFailure: (error) => void process.stderr.write(`a request was not passed on: ${error.message}\n`),
});
server.on('error', giveUp);
server.on('connection', (socket) => {
  sockets.add(socket);
  socket.once('close', () => sockets.delete(socket));
});
server.listen(port, host, () => {
  const { port: bound } = server.address() as AddressInfo;
  process.stdout.write(`recording http://${host}:${bound} -> ${to} into ${out}\n`);
});
process.once('SIGINT', stop);
process.once('SIGTERM', stop);

async function write(exchange: Exchange): Promise<void> {
  await appendFile(out, `${JSON.stringify(removeSecrets(exchange))}\n`, { mode: 0o600 });
  recorded += 1;
}

/** What is under way may end; streams of events and WebSockets need not. */
function stop(): void {
  process.once('beforeExit', () => process.stdout.write(`${recorded} requests recorded in ${out}\n`));
  server.close();
  server.closeIdleConnections();
  setTimeout(() => sockets.forEach((socket) => socket.destroy()), GRACE_MS).unref();
}

/** A recording with holes is worse than none. */
function giveUp(thrown: unknown): never {
  process.stderr.write(`recording stopped: ${toError(thrown).message}\n`);
  process.exit(1);
}

function optionsOrExit() {
  const text = { type: 'string' } as const;
  try {
    const { values } = parseArgs({ options: { to: text, out: text, port: text, host: text } });
    const address = httpAddress.safeParse(values.to);
    if (!address.success || !values.out) throw new Error('--to URL and --out FILE are needed');
    const port = PORT.safeParse(values.port ?? DEFAULT_PORT);
    if (!port.success) throw new Error('--port must be a number up to 65535');
    return {
      to: address.data,
      out: values.out,
      port: port.data,
      host: values.host ?? '127.0.0.1',
    };
  } catch (thrown) {
    process.stderr.write(`${toError(thrown).message}\n${USAGE}`);
    return process.exit(1);
  }
}
