import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

// An upstream whose jobs carry in their id when they will have finished (milliseconds since 1970), so it needs no memory.
const server = createServer((request, response) => {
  const finishesAt = Number(request.url?.split('/').at(-1));
  const state = Date.now() >= finishesAt ? 'finished' : 'running';
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ state }));
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ url: `http://127.0.0.1:${port}` });
});
process.on('disconnect', () => process.exit(0));
