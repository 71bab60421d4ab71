import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { Pool, type PoolConfig } from 'pg';

// The least that can answer a status: node:http and one single-row select through pg. The word is the connection as JSON.
const pool = new Pool({ ...(JSON.parse(process.argv[2] ?? '{}') as PoolConfig), max: 10 });
const server = createServer((request, response) => {
  const id = (request.url ?? '').slice(1);
  pool.query('select * from media.tasks where id = $1', [id]).then(
    ({ rows }) => {
      const body = Buffer.from(JSON.stringify(rows[0]));
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length });
      response.end(body);
    },
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      response.writeHead(500).end();
    },
  );
});
server.listen(0, '127.0.0.1', () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
process.on('disconnect', () => process.exit(0));
