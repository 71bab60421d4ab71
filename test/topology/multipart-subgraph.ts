import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import { composeServices } from '@apollo/composition';
import { parse } from 'graphql';

/** A subgraph whose subscriptions come over Apollo's multipart protocol, written by hand. */
export interface MultipartSubgraph {
  readonly supergraph: string;
  close(): Promise<void>;
}

/** Starts it on a free port: `tick` gives 1 and 2, `broken` fails. */
export async function openMultipartSubgraph(): Promise<MultipartSubgraph> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      if (!String(request.headers.accept).includes('multipart/mixed')) {
        response.setHeader('content-type', 'application/json').end('{"data":{"__typename":"Query"}}');
        return;
      }
      response.setHeader('content-type', 'multipart/mixed;boundary="graphql";subscriptionSpec=1.0');
      const part = (value: unknown): string =>
        `\r\ncontent-type: application/json\r\n\r\n${JSON.stringify(value)}\r\n--graphql`;
      response.write('\r\n--graphql');
      response.write(part({}));
      if (text.includes('broken')) {
        response.write(part({ payload: null, errors: [{ message: 'no', extensions: { code: 'TEAPOT' } }] }));
      } else {
        // One part in two pieces.
        const first = part({ payload: { data: { tick: 1 } } });
        response.write(first.slice(0, 40));
        setImmediate(() => {
          response.write(first.slice(40));
          response.write(part({ payload: { data: { tick: 2 } } }));
          response.end('--\r\n');
        });
        return;
      }
      response.end('--\r\n');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
  const typeDefs = parse(
    'extend schema @link(url: "https://specs.apollo.dev/federation/v2.5") type Query { now: Int } type Subscription { tick: Int! broken: Int }',
  );
  const { supergraphSdl, errors } = composeServices([{ name: 'clock', url, typeDefs }]);
  if (supergraphSdl === undefined) throw new AggregateError(errors ?? [], String(errors));
  return {
    supergraph: supergraphSdl,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
