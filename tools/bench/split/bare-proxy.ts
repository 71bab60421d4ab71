import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { Pool } from 'undici';

// The least that can stand before another server: node:http, a pool of connections, and the answer's bytes as they are. The word is
// the origin behind it.
const pool = new Pool(process.argv[2] ?? '', { connections: 128 });

const server = createServer((request, response) => {
  pool.request({ method: 'GET', path: request.url ?? '/' }).then(
    async ({ statusCode, body }) => {
      const bytes = Buffer.from(await body.arrayBuffer());
      response.writeHead(statusCode, { 'Content-Type': 'application/json', 'Content-Length': bytes.length });
      response.end(bytes);
    },
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      response.writeHead(502).end();
    },
  );
});
server.listen(0, '127.0.0.1', () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
process.on('disconnect', () => process.exit(0));
