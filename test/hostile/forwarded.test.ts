import { connect } from 'node:net';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';

/**
 * Headers that only a trusted proxy may set, sent by everybody else: who is counted is told by the rate limit, which
 * anonymous callers have by their address. Written to the socket as they are: no client would send them.
 */

let behindProxies: KilnUnderTest;
let withoutProxies: KilnUnderTest;
beforeAll(async () => {
  const RATE_LIMIT = 'status=100000,read=100000,start=100000,write=100000';
  [behindProxies, withoutProxies] = await Promise.all([
    startKiln({ settings: { RATE_LIMIT, TRUST_PROXY: '127.0.0.1,10.0.0.0/8' } }),
    startKiln({ settings: { RATE_LIMIT } }),
  ]);
});
afterAll(async () => {
  await behindProxies?.close();
  await withoutProxies?.close();
});

interface Answer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** Sends a request with these header lines after Host; everything until the server closes is the answer. */
async function send(
  kiln: KilnUnderTest,
  lines: readonly string[],
  { path = '/api/task/health', host = new URL(kiln.url).host } = {},
): Promise<Answer> {
  const { hostname, port } = new URL(kiln.url);
  const socket = connect(Number(port), hostname);
  socket.write([`GET ${path} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...lines, '', ''].join('\r\n'));
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  const [head = '', ...body] = Buffer.concat(chunks).toString().split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), head, body: body.join('\r\n\r\n') };
}

/** What is left to whoever this request is counted against. */
async function left(kiln: KilnUnderTest, lines: readonly string[]): Promise<number> {
  const { head } = await send(kiln, lines);
  return Number(/^x-ratelimit-remaining: (\d+)$/im.exec(head)?.[1]);
}

/** Whether the second request is counted against the same caller as the first. */
async function isSame(
  kiln: KilnUnderTest,
  one: readonly string[],
  other: readonly string[],
): Promise<boolean> {
  const before = await left(kiln, one);
  return (await left(kiln, other)) === before - 1;
}

const from = (address: string) => [`X-Forwarded-For: ${address}`];

describe('behind trusted proxies', () => {
  it.each([
    ['its own address in IPv6 form', ['X-Forwarded-For: ::ffff:203.0.113.5']],
    ['its own address in IPv6 form, in hexadecimal', ['X-Forwarded-For: ::FFFF:CB00:7105']],
    ['its port', ['X-Forwarded-For: 203.0.113.5:52814']],
    ['what the client claims before it', ['X-Forwarded-For: 198.51.100.1, 203.0.113.5']],
    [
      'trusted addresses that the client claims before it',
      ['X-Forwarded-For: 10.0.0.1, 127.0.0.1, 203.0.113.5'],
    ],
    [
      'a chain of our own proxies behind it',
      ['X-Forwarded-For: 198.51.100.1, 203.0.113.5, 10.1.1.1, 127.0.0.1'],
    ],
    [
      'a line of the client before that of the proxy',
      ['X-Forwarded-For: 198.51.100.1', 'x-forwarded-for: 203.0.113.5'],
    ],
    ['garbage of the client before it', ['X-Forwarded-For: "><script>, unknown, ,, 203.0.113.5']],
    [
      'other headers that name somebody else',
      [
        'X-Forwarded-For: 203.0.113.5',
        'Forwarded: for=198.51.100.1;host=evil.example;proto=https',
        'X-Real-IP: 198.51.100.1',
        'X-Client-IP: 198.51.100.1',
        'True-Client-IP: 198.51.100.1',
        'CF-Connecting-IP: 198.51.100.1',
        'X_Forwarded_For: 198.51.100.1',
        'X-Original-Forwarded-For: 198.51.100.1',
      ],
    ],
  ])('a client is known by the address that a proxy has seen, with %s', async (_, lines) => {
    expect(await isSame(behindProxies, from('203.0.113.5'), lines)).toBe(true);
    expect(await isSame(behindProxies, from('198.51.100.1'), lines)).toBe(false);
  });

  it.each([
    'unknown',
    '_hidden',
    'localhost',
    '127.1',
    '0x7f.0.0.1',
    '010.0.0.1',
    '2130706433',
    '203.0.113.5.',
    '203.0.113.256',
    '203.0.113.5/32',
    '203.0.113.5 198.51.100.1',
    '203.0.113.5;198.51.100.1',
    'for=203.0.113.5',
    '::ffff:203.0.113',
    '203.0.113.5, ',
    ',',
  ])('whoever a proxy names %j is the proxy itself', async (address) => {
    expect(await isSame(behindProxies, [], from(address))).toBe(true);
  });

  it('an IPv6 client is its whole /64, however it is written', async () => {
    const one = from('2001:db8:1:2::1');
    expect(await isSame(behindProxies, one, from('2001:DB8:0001:0002:ffff::9'))).toBe(true);
    expect(await isSame(behindProxies, one, from('[2001:db8:1:2:3::]:443'))).toBe(true);
    expect(await isSame(behindProxies, one, from('2001:db8:1:3::1'))).toBe(false);
  });
});

describe('without trusted proxies', () => {
  it.each([
    [from('203.0.113.5')],
    [from('203.0.113.5, 127.0.0.1')],
    [['Forwarded: for=203.0.113.5']],
    [['X-Real-IP: 203.0.113.5']],
    [['X-Forwarded-For: 203.0.113.5', 'X-Forwarded-For: 127.0.0.1']],
  ])('nobody gets another address by %j', async (lines) => {
    expect(await isSame(withoutProxies, [], lines)).toBe(true);
  });
});

describe('our own address', () => {
  const claims = [
    'X-Forwarded-Host: evil.example',
    'X-Forwarded-Proto: https',
    'X-Forwarded-Port: 443',
    'X-Forwarded-Prefix: /evil',
    'X-Original-URL: /sandbox',
    'X-Rewrite-URL: /sandbox',
    'X-HTTP-Method-Override: DELETE',
    'Forwarded: host=evil.example;proto=https',
  ];

  it('is what the settings say, whatever Host and proxies claim, trusted or not', async () => {
    for (const kiln of [behindProxies, withoutProxies]) {
      const { status, head } = await send(kiln, claims, {
        path: '/auth/idp/authorize',
        host: 'evil.example',
      });
      expect(status).toBe(302);
      expect(head).toContain(`redirect_uri=${encodeURIComponent(`${kiln.url}/auth/idp/callback`)}`);
      expect(head).not.toContain('evil.example');
      expect(head).not.toContain('__Host-');
      const document = await send(kiln, claims, { path: '/openapi.json', host: 'evil.example' });
      expect(document.body).toContain(`"servers":[{"url":"${kiln.url}"}]`);
      expect(document.body).not.toContain('evil.example');
    }
  });

  it('is the issuer of the identity provider that is embedded, too', async () => {
    const embedded = await startKiln({ settings: { SANDBOX_URL: '' } });
    try {
      const path = '/sandbox/identity/.well-known/openid-configuration';
      const { status, body } = await send(embedded, claims, { path, host: 'evil.example' });
      expect([status, (JSON.parse(body) as { issuer: string }).issuer]).toEqual([
        200,
        `${embedded.url}/sandbox/identity`,
      ]);
      expect(body).not.toContain('evil.example');
    } finally {
      await embedded.close();
    }
  });
});

describe('a request that two readers would read differently', () => {
  it.each([
    ['a length and chunks', ['Content-Length: 4', 'Transfer-Encoding: chunked']],
    ['two lengths', ['Content-Length: 4', 'Content-Length: 5']],
    ['chunks in an unknown coding', ['Transfer-Encoding: chunked, identity']],
    ['a blank before the colon', ['X-Forwarded-For : 203.0.113.5']],
    ['a line that goes on', ['X-Forwarded-For: 203.0.113.5', ' , 198.51.100.1\r\nX : y']],
    ['a bare carriage return', ['X-Forwarded-For: 203.0.113.5\rX-Evil: 1']],
    ['a bare line feed in a name', ['X-Forwarded-For\n: 203.0.113.5']],
    ['a NUL', ['X-Forwarded-For: 203.0.113.5\0']],
  ])('is refused: %s', async (_, lines) => {
    const { status, head } = await send(behindProxies, lines);
    expect(status).toBe(400);
    expect(head).not.toMatch(/^x-evil/im);
  });

  it('with two Authorization headers is who the first one says, or nobody', async () => {
    const lines = ['Authorization: Bearer kiln_forged', 'Authorization: Bearer something'];
    expect((await send(behindProxies, lines)).status).toBe(401);
    expect((await send(behindProxies, lines.toReversed())).status).toBe(200);
  });

  it('puts nothing of its path and query on a line of the answer', async () => {
    for (const path of ['/%0d%0aX-Evil:%201', '/auth/idp/authorize?redirect_url=/%0d%0aX-Evil:%201']) {
      const { head } = await send(behindProxies, ['traceparent: 00-%0d%0aX-Evil:1'], { path });
      expect(head).not.toMatch(/x-evil/i);
    }
  });
});
