import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** A stand-in that ends its first event stream of a task with an error of this code, and says the next event to who comes back. */
export async function startEndingStream(code: string) {
  const event = (seq: number) => ({ data: { taskProgress: { seq } } });
  const refusal = { errors: [{ message: 'come back', extensions: { code } }] };
  const answers: object[][] = [[event(1), refusal], [event(2)]];
  const asked: object[] = [];
  const say = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    asked.push(((await json(request)) as { readonly variables: object }).variables);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const answer of answers.shift() ?? []) {
      response.write(`event: next\ndata: ${JSON.stringify(answer)}\n\n`);
    }
    response.end('event: complete\n\n');
  };
  const server = createServer((request, response) => void say(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The variables of each request so far. */
    asked,
    stop: () => server.close(),
  };
}
