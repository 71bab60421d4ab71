import { createHash, randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { Readable } from 'node:stream';

import { request } from 'undici';
import { afterEach, describe, expect, test } from 'vitest';

import { extent, isWhole } from '../../test/kit/extent.ts';
import {
  type TestGateway,
  type GraphqlAnswer,
  startTestGateway,
  until,
} from './server-under-test.fixture.ts';

let gateway: TestGateway | undefined;
afterEach(async () => {
  await gateway?.close();
  gateway = undefined;
});

const MUTATION = 'mutation ($file: Upload!) { upload(file: $file) { name bytes sha256 } }';
const PREFLIGHT = { 'apollo-require-preflight': 'true' };

function createForm(content: Uint8Array<ArrayBuffer>, query = MUTATION): FormData {
  const form = new FormData();
  form.set('operations', JSON.stringify({ query, variables: { file: null } }));
  form.set('map', JSON.stringify({ file: ['variables.file'] }));
  form.set('file', new Blob([content]), 'image.png');
  return form;
}

async function send(
  url: string,
  body: FormData,
  headers: Record<string, string> = PREFLIGHT,
): Promise<{ status: number; body: GraphqlAnswer }> {
  const response = await fetch(`${url}/graphql`, { method: 'POST', headers, body });
  return { status: response.status, body: (await response.json()) as GraphqlAnswer };
}

describe('uploads through GraphQL', () => {
  test('arrive whole, also when they are exactly as large as allowed', async () => {
    gateway = await startTestGateway({ uploadMaxBytes: 100_000 });
    for (const size of [0, 1, 65_536, 100_000]) {
      const content = randomBytes(size);
      const { body } = await send(gateway.url, createForm(content));
      const sha256 = createHash('sha256').update(content).digest('hex');
      expect(body).toEqual({ data: { upload: { name: 'image.png', bytes: size, sha256 } } });
    }
  });

  test('know how long their request says it is, before anything of it is read', async () => {
    gateway = await startTestGateway();
    const query = 'mutation ($file: Upload!) { upload(file: $file) { requestBytes } }';
    const { body } = await send(gateway.url, createForm(randomBytes(1_000), query));
    expect(body.errors).toBeUndefined();
    expect(gateway.world.stored[0]?.requestBytes).toBeGreaterThan(1_400);
  });

  test('of one byte too many fail, and nothing is stored', async () => {
    gateway = await startTestGateway({ uploadMaxBytes: 100_000 });
    for (const size of [100_001, 3_000_000]) {
      const { body } = await send(gateway.url, createForm(randomBytes(size)));
      expect(body.errors?.[0]).toMatchObject({
        message: 'a file may have at most 100000 bytes',
        extensions: { code: 'PAYLOAD_TOO_LARGE' },
      });
    }
    expect(gateway.world.stored).toEqual([]);
  });

  test('go nowhere but into the operation: a map that leads out of it is refused, and changes nothing', async () => {
    gateway = await startTestGateway();
    const hostile = [
      'hasOwnProperty.call',
      'toString.kiln',
      'variables.valueOf.kiln',
      'variables.list.map.call',
      'query.at.call',
      'variables.__proto__.kiln',
      'variables.list.constructor.kiln',
      'variables.toString',
      'variables.nothing.file',
    ];
    const members = [
      ...['hasOwnProperty', 'toString', 'valueOf'].map((name): unknown =>
        Reflect.get(Object.prototype, name),
      ),
      Reflect.get(Array.prototype, 'map'),
      Reflect.get(String.prototype, 'at'),
    ].filter((member) => typeof member === 'function');
    try {
      for (const path of hostile) {
        const form = createForm(Buffer.from('x'));
        form.set(
          'operations',
          JSON.stringify({ query: '{ hello }', variables: { list: [null], file: null } }),
        );
        form.set('map', JSON.stringify({ file: ['variables.file', path] }));
        const { status, body } = await send(gateway.url, form);
        expect([path, status, body.errors?.[0]?.extensions]).toEqual([path, 400, { code: 'BAD_REQUEST' }]);
      }
      expect(members).toHaveLength(5);
      for (const member of members) {
        expect(Object.getOwnPropertyNames(member).toSorted()).toEqual(['length', 'name']);
      }
    } finally {
      // Whatever went wrong here must not go wrong in every other test as well.
      for (const member of members) {
        for (const name of ['call', 'kiln']) Reflect.deleteProperty(member, name);
      }
    }
    expect((await send(gateway.url, createForm(Buffer.from('x')))).body.errors).toBeUndefined();
  });

  // In `npm test` by test/rest/media/uploads.test.ts, at a whole Kiln.
  test.runIf(isWhole)('stream through in bounded memory', async () => {
    gateway = await startTestGateway({ uploadMaxBytes: 200_000_000 });
    const chunk = randomBytes(1_000_000);
    const hash = createHash('sha256');
    const head =
      '--x\r\nContent-Disposition: form-data; name="operations"\r\n\r\n' +
      `${JSON.stringify({ query: MUTATION, variables: { file: null } })}\r\n` +
      '--x\r\nContent-Disposition: form-data; name="map"\r\n\r\n{"file":["variables.file"]}\r\n' +
      '--x\r\nContent-Disposition: form-data; name="file"; filename="big"\r\n\r\n';
    let peak = 0;
    const before = process.memoryUsage().rss;
    function* content() {
      yield head;
      for (let index = 0; index < 150; index += 1) {
        hash.update(chunk);
        peak = Math.max(peak, process.memoryUsage().rss);
        yield chunk;
      }
      yield '\r\n--x--\r\n';
    }
    const { body } = await request(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { ...PREFLIGHT, 'content-type': 'multipart/form-data; boundary=x' },
      body: Readable.from(content()),
    });
    const answer = (await body.json()) as GraphqlAnswer;
    expect(answer.data?.['upload']).toMatchObject({ bytes: 150_000_000, sha256: hash.digest('hex') });
    // Client and server share this process; a file that is collected somewhere would show with its whole size.
    expect(peak - before).toBeLessThan(110_000_000);
  });

  test('without a preflight header are refused at once, however large the body', async () => {
    gateway = await startTestGateway();
    const { hostname, port } = new URL(gateway.url);
    const socket = connect(Number(port), hostname);
    const answers: string[] = [];
    socket.on('data', (data) => answers.push(String(data)));
    socket.on('error', () => undefined);
    socket.write(
      'POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=x\r\n' +
        'Content-Length: 80000000\r\n\r\n--x\r\nContent-Disposition: form-data; name="operations"\r\n\r\n',
    );
    // 80 MB were announced and almost none sent: the answer does not wait for them.
    await until(() => answers.join('').includes('apollo-require-preflight'));
    expect(answers.join('')).toMatch(/^HTTP\/1.1 400 /);
    // The client sends no more: the server does not keep the socket for it.
    await new Promise((resolve) => socket.once('close', resolve));
  });

  test('of many megabytes that nobody wants do not hang the client', async () => {
    gateway = await startTestGateway({ uploadMaxBytes: 100_000_000 });
    // More than the sockets on both sides take in.
    const content = Buffer.alloc(extent(24_000_000, 80_000_000));
    const refused = await send(gateway.url, createForm(content), {});
    expect(refused.status).toBe(400);
    const invalid = await send(gateway.url, createForm(content, 'mutation { nothing }'));
    expect(invalid.body.errors?.[0]?.extensions).toMatchObject({ code: 'GRAPHQL_VALIDATION_FAILED' });
    const unread = await send(
      gateway.url,
      createForm(content, 'mutation ($file: Upload!) { ignoreUpload(file: $file) }'),
    );
    expect(unread.body.data).toEqual({ ignoreUpload: true });
    expect(gateway.world.stored).toEqual([]);
  });

  test('that are malformed are explained', async () => {
    gateway = await startTestGateway();
    const noMap = new FormData();
    noMap.set('operations', JSON.stringify({ query: MUTATION, variables: { file: null } }));
    const tooMany = new FormData();
    tooMany.set('operations', JSON.stringify({ query: MUTATION, variables: { file: null } }));
    tooMany.set(
      'map',
      JSON.stringify(Object.fromEntries(Array.from({ length: 11 }, (_, at) => [at, ['variables.file']]))),
    );
    const hugeField = new FormData();
    hugeField.set('operations', `{"query":"${'x'.repeat(1_100_000)}"}`);
    const batch = new FormData();
    batch.set('operations', JSON.stringify(Array.from({ length: 100 }, () => ({ query: MUTATION }))));
    batch.set('map', '{}');
    const missing = createForm(randomBytes(1));
    missing.delete('file');
    const cases = [
      [noMap, 400, 'BAD_REQUEST'],
      [tooMany, 413, 'PAYLOAD_TOO_LARGE'],
      [hugeField, 413, 'PAYLOAD_TOO_LARGE'],
      [batch, 400, 'QUERY_REFUSED'],
    ] as const;
    for (const [form, status, code] of cases) {
      const answer = await send(gateway.url, form);
      expect([answer.status, answer.body.errors?.[0]?.extensions?.['code']]).toEqual([status, code]);
    }
    const { body } = await send(gateway.url, missing);
    expect(body.errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT' });
  });

  test('cut in the middle store nothing and leave the server running', async () => {
    gateway = await startTestGateway();
    const { hostname, port } = new URL(gateway.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.write(
      'POST /graphql HTTP/1.1\r\nHost: x\r\nApollo-Require-Preflight: 1\r\n' +
        'Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 500000\r\n\r\n' +
        '--x\r\nContent-Disposition: form-data; name="operations"\r\n\r\n' +
        `${JSON.stringify({ query: MUTATION, variables: { file: null } })}\r\n` +
        '--x\r\nContent-Disposition: form-data; name="map"\r\n\r\n{"file":["variables.file"]}\r\n' +
        '--x\r\nContent-Disposition: form-data; name="file"; filename="big"\r\n\r\nthe beginning',
    );
    const { lines, world, url } = gateway;
    await new Promise((resolve) => socket.once('connect', resolve));
    setImmediate(() => socket.resetAndDestroy());
    await until(() => lines.some((line) => line.includes('"path":"/graphql"')));
    expect(world.stored).toEqual([]);
    expect((await send(url, createForm(randomBytes(10)))).status).toBe(200);
  });
});
