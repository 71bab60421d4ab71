import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { rest, taskEnd } from '../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';

/** Addresses among the inputs that lead into the operator's own network: never asked, unless the operator allows them. */

interface Neighbour {
  readonly server: Server;
  readonly url: string;
  /** Every path it was asked for. */
  readonly asked: string[];
}

/** A server on this machine: what it must not be asked for without leave. */
async function startNeighbour(
  answers: Readonly<Record<string, () => { type: string; body: Buffer } | { to: string }>>,
): Promise<Neighbour> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    asked.push(path);
    const answer = answers[path]?.();
    if (answer === undefined) response.writeHead(404).end();
    else if ('to' in answer) response.writeHead(302, { location: answer.to }).end();
    else response.writeHead(200, { 'content-type': answer.type }).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

let kiln: KilnUnderTest;
let secret: Neighbour;
let allowed: Neighbour;
beforeAll(async () => {
  const png = await sharp({ create: { width: 20, height: 20, channels: 3, background: 'green' } })
    .png()
    .toBuffer();
  const image = () => ({ type: 'image/png', body: png });
  secret = await startNeighbour({ '/secret.png': image });
  allowed = await startNeighbour({
    '/a.png': image,
    '/page': () => ({ type: 'image/png', body: Buffer.from('<html>no image</html>') }),
    '/redirect': () => ({ to: `${secret.url}/secret.png` }),
    '/local': () => ({ to: '/a.png' }),
    '/circle': () => ({ to: '/circle' }),
    '/file': () => ({ to: 'file:///etc/passwd' }),
  });
  kiln = await startKiln({ isQuick: true, settings: { OUTBOUND_ALLOW: new URL(allowed.url).host } });
});
afterAll(async () => {
  await kiln.close();
  secret.server.close();
  allowed.server.close();
});

/** The status reply at the end of a task that describes the image at an address. */
async function endWith(img_url: string) {
  const { body } = await submit(img_url);
  expect(body).toMatchObject({ status: true });
  return (await taskEnd(kiln.url, body.data)).body;
}

const submit = (img_url: string) =>
  rest(kiln.url, 'POST', '/api/task/create/task', { task_type: 'lady', prompt: 'x', img_url });

describe('an address that leads inside', () => {
  it.each([
    ['as a number', () => `${secret.url}/secret.png`],
    ['written in hexadecimal', () => `http://0x7f000001:${new URL(secret.url).port}/secret.png`],
    ['in few parts', () => `http://127.1:${new URL(secret.url).port}/secret.png`],
    ['in IPv6', () => `http://[::ffff:127.0.0.1]:${new URL(secret.url).port}/secret.png`],
    ['of nobody', () => `http://0.0.0.0:${new URL(secret.url).port}/secret.png`],
    ['of cloud metadata', () => 'http://169.254.169.254/latest/meta-data'],
    ['of the upstream’s control', () => `${kiln.sandboxUrl}/_control/starts`],
    ['of Kiln’s own health', () => `${kiln.url}/healthz`],
    ['by its name', () => `http://localhost:${new URL(secret.url).port}/secret.png`],
  ])('%s is refused in place of a task, naming the input', async (_, address) => {
    const { status, body } = await submit(address());
    expect([status, body.status, body.data]).toEqual([200, false, null]);
    expect(body.msg).toMatch(/^img_url can't be fetched: /);
    expect(secret.asked).toEqual([]);
  });

  it.each([
    ['behind a redirect', () => `${allowed.url}/redirect`],
    ['of a file behind a redirect', () => `${allowed.url}/file`],
  ])('%s is not asked, and the task says which input is at fault', async (_, address) => {
    const body = await endWith(address());
    expect(body).toMatchObject({
      status: false,
      data: { error: { code: 'invalid_input', retryable: false } },
    });
    expect(secret.asked).toEqual([]);
  });
});

describe('an address that the operator allows', () => {
  it.each(['/a.png', '/local'])('is fetched: %s', async (path) => {
    expect(await endWith(`${allowed.url}${path}`)).toMatchObject({ status: true });
  });

  it.each(['/page', '/circle', '/nothing'])('that gives no image is an input at fault: %s', async (path) => {
    expect(await endWith(`${allowed.url}${path}`)).toMatchObject({
      status: false,
      data: { error: { code: 'invalid_input' } },
    });
  });
});
