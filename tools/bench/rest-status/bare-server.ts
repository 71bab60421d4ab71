import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { Pool, type PoolConfig } from 'pg';

// The least that can answer with tasks: node:http and one statement through pg, whose rows are sent as they are. The word is the
// connection as JSON; the first part of the path says what is read.
const pool = new Pool({ ...(JSON.parse(process.argv[2] ?? '{}') as PoolConfig), max: 10 });

const WITH_FILES = `select tasks.*, (select json_agg(media order by position)
    from jsonb_array_elements_text(tasks.result -> 'mediaIds') with ordinality as output (id, position)
    join media.media on media.id = output.id::uuid) as files
  from media.tasks`;

const STATEMENTS: Readonly<Record<string, string>> = {
  task: 'select * from media.tasks where id = $1',
  'task-with-files': `${WITH_FILES} where id = $1`,
  newest: `${WITH_FILES} order by created_at desc, id desc limit $1`,
};

const server = createServer((request, response) => {
  const [, what = '', value] = (request.url ?? '').split('/');
  if (what === 'nothing') {
    response.end('{}');
    return;
  }
  pool.query(STATEMENTS[what] ?? 'select 1 / 0', [value]).then(
    ({ rows }) => {
      const body = Buffer.from(JSON.stringify(rows));
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
