import { once } from 'node:events';
import { createServer, request as httpRequest, type Server } from 'node:http';
import { buffer } from 'node:stream/consumers';

import express from 'express';
import type { FileUpload, Upload } from 'graphql-upload-minimal';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { AppError } from '../../errors.ts';
import { listenOn } from '../../http/server.ts';
import { findRequestBytes } from './request-bytes.ts';
import { createUploadMiddleware, PREFLIGHT_HEADERS } from './uploads.ts';

let server: Server;
let url: string;
let handled = 0;
/** What a request that is let through does with its body. */
let use: (body: unknown) => unknown = (body) => body ?? null;

beforeAll(async () => {
  const app = express();
  app.use(createUploadMiddleware({ maxFileSize: 10, maxFieldBytes: 300, drainMs: 20 }));
  app.use((request, response) => {
    handled += 1;
    void (async () => response.json((await use(request.body)) ?? null))();
  });
  server = createServer(app);
  ({ url } = await listenOn(server, '127.0.0.1', 0));
});
afterAll(() => void server.close());

const operations = JSON.stringify({ query: 'mutation', variables: { a: null, list: [null] } });
const REQUIRED = { [PREFLIGHT_HEADERS[0]]: 'true' };

interface Form {
  readonly operations?: string;
  readonly map?: string;
  readonly file?: string;
}

async function send(form: Form, headers: Record<string, string> = REQUIRED) {
  const body = new FormData();
  if (form.operations !== undefined) body.append('operations', form.operations);
  if (form.map !== undefined) body.append('map', form.map);
  if (form.file !== undefined) body.append('0', new File([form.file], 'a.txt', { type: 'text/plain' }));
  const response = await fetch(url, { method: 'POST', headers, body });
  return { status: response.status, answer: await response.json() };
}

const refusal = (status: number, code: string, message: unknown) => ({
  status,
  answer: { errors: [{ message, extensions: { code } }] },
});

describe('a request with uploads', () => {
  it('is one of a form, no other', async () => {
    const answered = await fetch(url, {
      method: 'POST',
      body: 'text',
      headers: { 'content-type': 'text/plain' },
    });
    expect([answered.status, await answered.json()]).toEqual([200, null]);
  });

  it('needs one of the headers that a foreign form has not', async () => {
    const before = handled;
    expect(await send({ operations, map: '{}' }, {})).toEqual(
      refusal(400, 'BAD_REQUEST', 'send the header apollo-require-preflight: true with uploads'),
    );
    expect(handled).toBe(before);
    for (const name of PREFLIGHT_HEADERS)
      expect(await send({ operations, map: '{}' }, { [name]: 'x' })).toEqual({
        status: 200,
        answer: JSON.parse(operations),
      });
  });

  it('is refused with what is wrong with it', async () => {
    const before = handled;
    expect(await send({ operations: 'no JSON', map: '{}' })).toEqual(
      refusal(400, 'BAD_REQUEST', expect.stringContaining("'operations'")),
    );
    expect(await send({ operations })).toEqual(refusal(400, 'BAD_REQUEST', expect.stringContaining("'map'")));
    expect(await send({ operations: JSON.stringify('x'.repeat(400)), map: '{}' })).toEqual(
      refusal(413, 'PAYLOAD_TOO_LARGE', expect.any(String)),
    );
    expect(handled).toBe(before);
  });

  it.each([
    'variables.constructor.name',
    'variables.a.b',
    'variables.__proto__.b',
    'variables.toString',
    'variables.list.0.x',
    'variables.none.x',
    'variables.list.map',
  ])('does not lead out of its operation by %s', async (path) => {
    const before = handled;
    const refused = await send({ operations, map: JSON.stringify({ 0: ['variables.a', path] }) });
    expect(refused).toEqual(refusal(400, 'BAD_REQUEST', expect.stringContaining('leads out of')));
    expect(handled).toBe(before);
  });

  it.each(['variables.a', 'variables.list.0', 'variables.new'])('may put a file to %s', async (path) => {
    use = async (body) => {
      let place = body;
      for (const step of path.split('.')) place = (place as Record<string, unknown>)[step];
      const file = await (place as Upload & { promise: Promise<FileUpload> }).promise;
      const bytes = await buffer(file.createReadStream());
      return [String(bytes), findRequestBytes(file), findRequestBytes(place as object)];
    };
    const { status, answer } = await send({
      operations,
      map: JSON.stringify({ 0: [path] }),
      file: 'ten bytes.',
    });
    expect([status, answer]).toEqual([200, ['ten bytes.', expect.any(Number), expect.any(Number)]]);
    const [, ofFile, ofUpload] = answer as readonly number[];
    expect(ofFile).toBeGreaterThan(400);
    expect(ofUpload).toBe(ofFile);
  });

  it('has no file that is larger than allowed', async () => {
    use = async (body) => {
      const { variables } = body as { variables: { list: [{ promise: Promise<FileUpload> }] } };
      const file = await variables.list[0].promise;
      try {
        await buffer(file.createReadStream());
        return 'taken';
      } catch (thrown) {
        const { code, message } = thrown as AppError;
        return [code, message];
      }
    };
    const form = { operations, map: '{"0":["variables.list.0"]}' };
    expect((await send({ ...form, file: 'ten bytes.' })).answer).toBe('taken');
    expect((await send({ ...form, file: 'ten bytes..' })).answer).toEqual([
      'PAYLOAD_TOO_LARGE',
      'a file may have at most 10 bytes',
    ]);
  });

  it('has a file that is read once, wherever it is named', async () => {
    use = async (body) => {
      const { variables } = body as { variables: { a: Upload; list: [Upload] } };
      const [first, second] = await Promise.all([variables.a.promise, variables.list[0].promise]);
      await buffer(first.createReadStream());
      try {
        return second.createReadStream();
      } catch (thrown) {
        const { code, message } = thrown as AppError;
        return [code, message];
      }
    };
    const form = { operations, map: '{"0":["variables.a","variables.list.0"]}', file: 'once' };
    expect((await send(form)).answer).toEqual([
      'BAD_USER_INPUT',
      'a file can be used in one place: send it once for each',
    ]);
  });

  it('is cut off when it goes on after the answer', async () => {
    const headers = { 'content-type': 'multipart/form-data; boundary=x' };
    const endless = httpRequest(url, { method: 'POST', headers });
    const closed = once(endless, 'close');
    endless.on('error', () => undefined);
    endless.flushHeaders();
    const [response] = await once(endless, 'response');
    expect(response.statusCode).toBe(400);
    response.resume();
    await closed;
  });
});
