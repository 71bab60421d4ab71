import { sign } from 'node:crypto';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { inspect } from 'node:util';

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import type { HttpClient } from '../../../../platform/http/http-client.ts';
import { createOutboundRule } from '../../../../platform/http/safe-url.ts';
import { createHttpClient } from '../../../../platform/http/undici-http-client.ts';
import { silentLogger } from '../../../../platform/process/logger.ts';
import type { Sandbox } from '../../../../sandbox/sandbox.ts';
import { plan, startSandbox } from '../../../../sandbox/test-kit.ts';
import { nodeText, createAlipay } from './alipay.ts';
import { createDouyin } from './douyin.ts';
import type { Platform } from './platform.ts';
import { platformError } from './request.ts';
import { createWechat } from './wechat.ts';

/** The adapters against the sandbox's stand-ins, and against servers that misbehave. */

const SECRET = 'a-secret-that-nobody-may-see';
const WECHAT = { appId: 'wx00000000sandbox1', secret: 'kiln-sandbox-wechat' };
const DOUYIN = { appId: 'tt00000000sandbox1', secret: 'kiln-sandbox-douyin' };
const ALIPAY = '2021000000000001';

let sandbox: Sandbox;
let stop: () => Promise<void>;
let http: HttpClient;
let alipayKeys: Awaited<ReturnType<Sandbox['platforms']['alipay']['keys']>>;
beforeAll(async () => {
  ({ sandbox, stop } = await startSandbox());
  alipayKeys = await sandbox.platforms.alipay.keys();
  http = createHttpClient({ outbound: createOutboundRule({ allow: [] }), logger: silentLogger() });
});
afterAll(async () => {
  await http?.close();
  await stop?.();
});

const wechat = (app = WECHAT, baseUrl = sandbox.platforms.wechat) =>
  createWechat({ http, apps: [app], baseUrl });
const douyin = (app = DOUYIN, baseUrl = sandbox.platforms.douyin) =>
  createDouyin({ http, apps: [app], baseUrl });
const alipay = (change: { appId?: string; swapped?: boolean; baseUrl?: string } = {}) => {
  const { baseUrl } = sandbox.platforms.alipay;
  const { privateKey, platformKey } = alipayKeys;
  const { appId = ALIPAY, swapped = false } = change;
  return createAlipay({
    http,
    apps: [{ appId, privateKey, platformKey: swapped ? privateKey : platformKey }],
    baseUrl: change.baseUrl ?? baseUrl,
  });
};

const exchange = (platform: Platform, code: string | null, anonymousCode: string | null = null) =>
  platform.exchange({ appId: platform.appIds[0] ?? '', code, anonymousCode });

interface Row {
  readonly name: string;
  readonly make: (baseUrl?: string) => Platform;
  readonly identity: object;
  /** The platform's own word for a code that it does not know, and for one that was used. */
  readonly unknown: string;
  readonly used: string;
  readonly limited: string;
  readonly down: string;
  readonly strangers: readonly (readonly [string, () => Platform, string])[];
}

const rows: readonly Row[] = [
  {
    name: 'wechat',
    make: (baseUrl) => wechat(WECHAT, baseUrl),
    identity: {
      platform: 'wechat',
      appId: WECHAT.appId,
      subject: expect.stringMatching(/^o[\w-]{27}$/),
      unionId: expect.stringMatching(/^o[\w-]{27}$/),
      secret: { session_key: expect.any(String) },
    },
    unknown: '40029',
    used: '40163',
    limited: '45011',
    down: '-1',
    strangers: [
      ['an unknown app', () => wechat({ ...WECHAT, appId: 'wx-other' }), '40013'],
      ['a wrong secret', () => wechat({ ...WECHAT, secret: SECRET }), '40125'],
    ],
  },
  {
    name: 'douyin',
    make: (baseUrl) => douyin(DOUYIN, baseUrl),
    identity: {
      platform: 'douyin',
      appId: DOUYIN.appId,
      subject: expect.stringMatching(/^_000/),
      unionId: expect.stringMatching(/^_000/),
      secret: { session_key: expect.any(String) },
    },
    unknown: '40018',
    used: '40018',
    limited: 'HTTP 429',
    down: '-1',
    strangers: [
      ['an unknown app', () => douyin({ ...DOUYIN, appId: 'tt-other' }), '40015'],
      ['a wrong secret', () => douyin({ ...DOUYIN, secret: SECRET }), '40017'],
    ],
  },
  {
    name: 'alipay',
    make: (baseUrl) => alipay(baseUrl === undefined ? {} : { baseUrl }),
    identity: {
      platform: 'alipay',
      appId: ALIPAY,
      subject: expect.stringMatching(/^0.+\/x$/),
      unionId: null,
      secret: { access_token: expect.any(String), refresh_token: expect.any(String) },
    },
    unknown: 'isv.code-invalid',
    used: 'isv.code-invalid',
    limited: 'isv.app-call-limited',
    down: 'isp.unknow-error',
    strangers: [['an unknown app', () => alipay({ appId: '2021999' }), 'isv.invalid-app-id']],
  },
];

describe.each(rows)('$name', ({ name, make, identity, unknown, used, limited, down, strangers }) => {
  it('says who is there, the same every time, and somebody else for others', async () => {
    const first = await exchange(make(), 'ada-1');
    expect(first).toMatchObject({ email: null, name: null, picture: null, ...identity });
    expect((await exchange(make(), 'ada-2')).subject).toBe(first.subject);
    expect((await exchange(make(), 'ben-1')).subject).not.toBe(first.subject);
  });

  it('refuses codes that are unknown or used', async () => {
    const refused = (code: string) => ({
      code: 'UNAUTHENTICATED',
      message: expect.stringContaining(`(${code})`) as string,
    });
    await expect(exchange(make(), 'nobody-knows')).rejects.toMatchObject(refused(unknown));
    await exchange(make(), 'ada-once');
    await expect(exchange(make(), 'ada-once')).rejects.toMatchObject(refused(used));
  });

  it.each(strangers)('does not accept %s', async (_, stranger, code) => {
    const error: unknown = await exchange(stranger(), 'ada-3').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'NOT_CONFIGURED',
      message: expect.stringMatching(`(${code}): see ${name.toUpperCase()}_APPS`.replace(/[()]/g, '.')),
    });
    expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(SECRET);
  });

  it('says when it was asked too often, and when it is down', async () => {
    await plan(sandbox, { wire: name, fault: 'rate-limited' });
    await expect(exchange(make(), 'ada-4')).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      retryAfter: 60,
      message: expect.stringContaining(`(${limited})`),
    });
    await plan(sandbox, { wire: name, fault: 'server-error' });
    await expect(exchange(make(), 'ada-4')).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      retryAfter: 5,
      message: `${name} gives no usable answer; try again with a new code (${down})`,
    });
    // Nothing was asked a second time: the code is still good.
    expect(await exchange(make(), 'ada-4')).toMatchObject(identity);
  });

  it('has no answer when it breaks off, once, or shows a page', async () => {
    for (const fault of ['cut', 'malformed', 'wrong-content-type'] as const) {
      const code = `ada-${fault}`;
      await plan(sandbox, { wire: name, fault });
      await expect(exchange(make(), code)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      // It was carried out all the same, once: a second call is told that the code was used.
      await expect(exchange(make(), code)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    }
  });
});

describe('a person', () => {
  it('who is blocked at WeChat does not sign in', async () => {
    await expect(exchange(wechat(), 'blocked-1')).rejects.toMatchObject({
      code: 'UNAUTHENTICATED',
      message: expect.stringContaining('this person'),
    });
  });

  it('who has not signed in at Douyin has an anonymous id, and no other', async () => {
    const known = await exchange(douyin(), 'ada-known');
    const anonymous = await exchange(douyin(), null, 'ada-anonymous');
    expect(anonymous.subject).not.toBe(known.subject);
    expect(anonymous.unionId).toBeNull();
    await expect(exchange(douyin(), null, 'nobody-x')).rejects.toMatchObject({
      message: expect.stringContaining('40019'),
    });
  });

  it('needs a code where the platform has no other way', async () => {
    for (const platform of [wechat(), alipay()]) {
      await expect(exchange(platform, null, 'ada-5')).rejects.toMatchObject({ field: 'code' });
    }
  });
});

describe('an answer', () => {
  let server: Server | null = null;
  afterEach(async () => {
    const open = server;
    server = null;
    if (open !== null) await new Promise((resolve) => open.close(resolve));
  });

  /** A server that answers everything with this, and what it was sent. */
  async function serve(
    status: number,
    body: string,
  ): Promise<{ url: string; asked: string[]; types: unknown[] }> {
    const asked: string[] = [];
    const types: unknown[] = [];
    const take = async (request: IncomingMessage) => asked.push(`${request.url} ${await text(request)}`);
    server = createServer((request, response) => {
      types.push(request.headers['content-type']);
      void take(request).then(() => response.writeHead(status, { connection: 'close' }).end(body));
    });
    await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked, types };
  }

  it.each([
    ['without a subject', 200, '{}'],
    ['of another form', 200, '[1]'],
    ['that is no object', 200, 'null'],
    ['with a number for a subject', 200, '{"openid":7,"err_no":0,"data":{"openid":7}}'],
    ['with an endless subject', 200, JSON.stringify({ openid: 'x'.repeat(300), err_no: 0, data: {} })],
    ['with a number nobody knows', 200, '{"errcode":99999,"err_no":99999,"error_response":{"code":"99"}}'],
    ['with an empty subject', 200, '{"openid":"","err_no":0,"data":{"openid":""}}'],
    ['of a failure', 500, '{"openid":"o-1","err_no":0,"data":{"openid":"o-1"}}'],
    ['of a proxy', 502, '<html>bad gateway</html>'],
    ['that repeats the request', 200, `<html>${SECRET}</html>`],
  ])('%s is none, and nothing of it is told', async (_, status, body) => {
    for (const make of [wechat, douyin] as const) {
      const { url, asked } = await serve(status, body);
      const app = { appId: 'app', secret: SECRET };
      const error: unknown = await exchange(make(app, url), 'ada-1').catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'UNAVAILABLE', retryAfter: 5 });
      expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(SECRET);
      expect(asked).toHaveLength(1);
      await new Promise((resolve) => server?.close(resolve));
      server = null;
    }
    const { url } = await serve(status, body);
    await expect(exchange(alipay({ baseUrl: url }), 'ada-1')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('that never came names no address and no secret', async () => {
    const { url } = await serve(200, '{}');
    await new Promise((resolve) => server?.close(resolve));
    server = null;
    const app = { appId: 'app', secret: SECRET };
    const error: unknown = await exchange(wechat(app, url), 'ada-1').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'UNAVAILABLE' });
    expect(inspect(error, { depth: 9, showHidden: true })).not.toMatch(`${SECRET}|jscode2session`);
  });

  it('may name no union and no secret, and the longest subject', async () => {
    const longest = { openid: 'x'.repeat(255), unionid: '', session_key: '' };
    const app = { appId: 'app', secret: SECRET };
    for (const [make, answer] of [
      [wechat, { ...longest, errcode: 0 }],
      [douyin, { err_no: 0, data: longest }],
    ] as const) {
      const { url } = await serve(200, JSON.stringify(answer));
      const { subject, unionId, secret } = await exchange(make(app, url), 'ada-1');
      expect([subject, unionId, secret]).toEqual([longest.openid, null, null]);
      await new Promise((resolve) => server?.close(resolve));
      server = null;
    }
  });

  it('of Douyin is asked for in JSON', async () => {
    const { url, asked, types } = await serve(200, '{}');
    const app = { appId: 'app', secret: SECRET };
    await expect(exchange(douyin(app, url), 'ada-8')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    const body = JSON.stringify({ appid: 'app', secret: SECRET, code: 'ada-8', anonymous_code: '' });
    expect([types, asked]).toEqual([['application/json'], [`/api/apps/v2/jscode2session ${body}`]]);
  });

  it('of Alipay is asked for in a form, with the time of China', async () => {
    const { url, asked, types } = await serve(200, '{}');
    await expect(exchange(alipay({ baseUrl: url }), 'ada-8')).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(types).toEqual(['application/x-www-form-urlencoded; charset=utf-8']);
    const timestamp = new URLSearchParams(asked[0]?.split(' ')[1]).get('timestamp');
    const seconds = (Date.parse(`${timestamp}+08:00`) - Date.now()) / 1_000;
    expect(Math.abs(seconds)).toBeLessThan(60);
  });

  it('of Alipay is believed only when Alipay signed these very letters', async () => {
    const stranger = alipay({ swapped: true });
    await expect(exchange(stranger, 'ada-6')).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: expect.stringContaining('not signed by Alipay'),
    });
    const node = '{"open_id":"mallory"}';
    const name = 'alipay_system_oauth_token_response';
    for (const body of [
      `{"${name}":${node}}`,
      `{"${name}":${node},"sign":""}`,
      `{"${name}":${node},"sign":"AAAA"}`,
      `{"${name}":${node},"${name}":${node},"sign":"AAAA"}`,
    ]) {
      const { url } = await serve(200, body);
      await expect(exchange(alipay({ baseUrl: url }), 'ada-7')).rejects.toMatchObject({
        code: 'UNAVAILABLE',
      });
      await new Promise((resolve) => server?.close(resolve));
      server = null;
    }
  });

  it.each([
    [
      { open_id: '', user_id: '2088', union_id: '' },
      { subject: '2088', unionId: null, secret: null },
    ],
    [
      {
        code: 10_000,
        open_id: 'o-1',
        user_id: '2088',
        union_id: 'u-1',
        access_token: 't',
        refresh_token: '',
      },
      { subject: 'o-1', unionId: 'u-1', secret: { access_token: 't' } },
    ],
    [{ open_id: 7 }, { code: 'UNAVAILABLE' }],
    [{ open_id: 'o-1', code: '10001' }, { code: 'UNAVAILABLE' }],
    [{ open_id: 'o-1', code: '10001', sub_code: 'isv.code-invalid' }, { code: 'UNAUTHENTICATED' }],
  ])('of Alipay that is signed says %o', async (answer, says) => {
    const node = JSON.stringify(answer);
    const signature = sign('sha256', Buffer.from(node), alipayKeys.privateKey).toString('base64');
    const { url } = await serve(200, `{"alipay_system_oauth_token_response":${node},"sign":"${signature}"}`);
    const answered = exchange(alipay({ swapped: true, baseUrl: url }), 'ada-7');
    expect(await answered.catch((error: unknown) => error)).toMatchObject(says);
  });
});

describe('the text of a signed node', () => {
  it.each([
    ['{"n":{"a":1},"sign":"x"}', '{"a":1}'],
    ['{ "sign":"x" , "n" : { "a": "}\\"{" } }', '{ "a": "}\\"{" }'],
    ['{"o":{"n":{"inner":1}},"n":{"outer":1}}', '{"outer":1}'],
    ['{"o":"\\"n\\":{}","n":{"a":[{}]}}', '{"a":[{}]}'],
    ['{"n":{"n":{"n":{}}}}', '{"n":{"n":{}}}'],
  ])('is found to the letter in %s', (whole, part) => {
    expect(nodeText(whole, 'n')).toBe(part);
  });

  it.each(['{}', '{"n":"{}"}', '{"n":[{}]}', '{"m":{"n":{}}}', '{"n":{},"n":{}}', '[{"n":{}}]'])(
    'is not found in %s',
    (whole) => {
      expect(nodeText(whole, 'n')).toBeNull();
    },
  );
});

it('of the code of a platform sixty characters are told', () => {
  expect(platformError('wechat', 'code', 'x'.repeat(61)).message).toBe(
    `wechat did not take the code; get a new one (${'x'.repeat(60)})`,
  );
});

it('what a platform did not answer is kept as the cause, where there is one', () => {
  const cause = new Error('reset');
  expect(platformError('wechat', 'outage', 'CUT', cause).cause).toBe(cause);
  expect(Object.hasOwn(platformError('wechat', 'outage', 'CUT'), 'cause')).toBe(false);
});
