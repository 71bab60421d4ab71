import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';

import type { ExecutionResult } from 'graphql';
import { Upload } from 'graphql-upload-minimal';
import { afterEach, describe, expect, it } from 'vitest';

import { AppError } from '../../errors.ts';
import { createEndpoints } from '../../http/endpoints/endpoints.ts';
import { silentLogger } from '../../process/logger.ts';
import { isStream } from '../operations/streams.ts';
import { contextOf } from '../subgraph-server/two-subgraphs.fixture.ts';
import { createRemoteLink, type RemoteLinkOptions } from './remote-link.ts';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

/** A link to a server that answers as the test wants. */
async function linkTo(listener: RequestListener, options: Partial<RemoteLinkOptions> = {}) {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanups.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
  const endpoints = createEndpoints({ urls: [url], logger: silentLogger() });
  const link = createRemoteLink({ name: 'media', endpoints, logger: silentLogger(), ...options });
  cleanups.push(() => link.close());
  return { link, server };
}

const ask = { query: '{ a }', variables: {}, context: contextOf() };

function failure(result: ExecutionResult) {
  const error = result.errors?.[0];
  return { code: error?.extensions['code'], message: error?.message };
}

describe('a remote link', () => {
  it('gives up in time on a subgraph that does not answer', async () => {
    const { link } = await linkTo(() => {}, { timeoutMs: 50 });
    expect(failure(await link.execute(ask))).toEqual({
      code: 'UNAVAILABLE',
      message: 'subgraph "media": no answer in time',
    });
  });

  it('gives up on a subgraph that stops in the middle of its answer', async () => {
    const { link } = await linkTo((_request, response) => void response.write('{"data":'), {
      timeoutMs: 50,
    });
    expect(failure(await link.execute(ask)).code).toBe('UNAVAILABLE');
  });

  it('refuses an answer that is too large', async () => {
    const { link } = await linkTo(
      (_request, response) => void response.end(`{"data":{"a":"${'x'.repeat(5_000)}"}}`),
      {
        maxResponseBytes: 1_000,
      },
    );
    expect(failure(await link.execute(ask)).code).toBe('UNAVAILABLE');
  });

  it.each([
    [502, '<h1>Bad gateway</h1>'],
    [200, 'null'],
    [200, '[]'],
    [401, '{"errors":[{"message":"x","extensions":{"code":"UNAUTHENTICATED"}}]}'],
  ])('calls HTTP %i with %s unavailable', async (status, body) => {
    const { link } = await linkTo((_request, response) => void response.writeHead(status).end(body));
    expect(failure(await link.execute(ask)).code).toBe('UNAVAILABLE');
    await expect(link.check()).rejects.toBeInstanceOf(AppError);
  });

  it('takes the errors of a refused document as they are', async () => {
    const body = '{"errors":[{"message":"no","extensions":{"code":"GRAPHQL_VALIDATION_FAILED"}}]}';
    const { link } = await linkTo((_request, response) => void response.writeHead(400).end(body));
    expect(failure(await link.execute(ask))).toEqual({ code: 'GRAPHQL_VALIDATION_FAILED', message: 'no' });
  });

  it('says that nobody is there, for requests and subscriptions', async () => {
    const { link, server } = await linkTo(() => {});
    await new Promise((resolve) => server.close(resolve));
    expect(failure(await link.execute(ask)).code).toBe('UNAVAILABLE');
    const started = await link.subscribe({ ...ask, query: 'subscription { a }' });
    if (!isStream<ExecutionResult>(started)) throw new Error('no stream');
    expect(failure((await started.next()).value as ExecutionResult).code).toBe('UNAVAILABLE');
    expect((await started.next()).done).toBe(true);
  });

  it('tells a foreign subgraph nothing about callers', async () => {
    const seen: string[] = [];
    const { link } = await linkTo((request, response) => {
      seen.push(...Object.keys(request.headers));
      response.end('{"data":{"__typename":"Query"}}');
    });
    await link.check();
    expect(seen).not.toContain('x-kiln-caller');
    expect(seen).not.toContain('authorization');
  });

  it('fails an upload whose stream fails, with the reason it has', async () => {
    const { link } = await linkTo((request, response) => {
      request.resume();
      request.once('end', () => response.end('{"data":{"upload":true}}'));
    });
    const file = new Upload() as Upload & { resolve(file: unknown): void };
    const broken = new Readable({
      read() {
        this.destroy(new AppError('PAYLOAD_TOO_LARGE', 'a file may have at most 5 bytes'));
      },
    });
    file.resolve({ filename: 'x', mimetype: 'text/plain', encoding: '7bit', createReadStream: () => broken });
    const query = 'mutation ($file: Upload!) { upload(file: $file) }';
    const result = await link.execute({ ...ask, query, variables: { file } });
    expect(failure(result)).toEqual({
      code: 'PAYLOAD_TOO_LARGE',
      message: 'a file may have at most 5 bytes',
    });
  });

  it('lets an upload take longer than the time limit as long as it moves', async () => {
    const { link } = await linkTo(
      (request, response) => {
        let bytes = 0;
        request.on('data', (chunk: Buffer) => (bytes += chunk.length));
        request.once('end', () => response.end(JSON.stringify({ data: { bytes } })));
      },
      { timeoutMs: 1_000 },
    );
    async function* slowly() {
      for (let index = 0; index < 15; index += 1) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        yield Buffer.alloc(10);
      }
    }
    const file = new Upload() as Upload & { resolve(file: unknown): void };
    file.resolve({ filename: 'x', mimetype: 'text/plain', encoding: '7bit', createReadStream: slowly });
    const query = 'mutation ($file: Upload!) { upload(file: $file) }';
    const result = await link.execute({ ...ask, query, variables: { file } });
    expect(result.errors).toBeUndefined();
    expect(result.data?.['bytes']).toBeGreaterThan(150);
  });
});
