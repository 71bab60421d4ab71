import volcengine from '@volcengine/openapi';
import { expect, it } from 'vitest';

import { useSandbox } from '../../use-sandbox.fixture.ts';

/** The vendor's signer against the stand-ins, which compute each signature anew. */

const sandbox = useSandbox();
const keys = { accessKeyId: 'AK', secretKey: 'sandbox-secret-key', sessionToken: '' };

/** A request that the vendor's Signer has signed, sent to a mount. */
async function send(
  mount: string,
  service: 'cv' | 'vod',
  call: { method: string; params: object; body?: object },
) {
  const url = new URL(`${sandbox.url(mount)}/`);
  const body = call.body === undefined ? undefined : JSON.stringify(call.body);
  const request = {
    region: 'cn-north-1',
    method: call.method,
    pathname: url.pathname,
    params: { ...call.params },
    headers: { Host: url.host, ...(body && { 'content-type': 'application/json' }) } as Record<
      string,
      string
    >,
    ...(body !== undefined && { body }),
  };
  new volcengine.Signer(request, service).addAuthorization(keys);
  const query = new URLSearchParams(request.params as Record<string, string>);
  const { Host: _, ...headers } = request.headers;
  const answer = await fetch(`${url.href}?${query.toString()}`, {
    method: call.method,
    headers,
    ...(body && { body }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

it('takes a GET without the hash of its body, as the SDK sends it', async () => {
  const params = { Action: 'QueryUploadTaskInfo', Version: '2020-08-01', JobIds: 'none' };
  const { status, body } = await send('volcengine-vod', 'vod', { method: 'GET', params });
  expect(status).toBe(200);
  expect(body).toHaveProperty('Result');
});

it('takes a signed POST', async () => {
  const params = { Action: 'CVGetResult', Version: '2022-08-31' };
  const body = { req_key: 'realman_avatar_creation_task', task_id: 'none' };
  const { body: answer } = await send('volcengine', 'cv', { method: 'POST', params, body });
  expect(JSON.stringify(answer)).not.toContain('Signature');
  expect(answer).toHaveProperty('code');
});

it('refuses another secret', async () => {
  const secret = keys.secretKey;
  keys.secretKey = 'another';
  const params = { Action: 'QueryUploadTaskInfo', Version: '2020-08-01', JobIds: 'none' };
  const { body } = await send('volcengine-vod', 'vod', { method: 'GET', params });
  keys.secretKey = secret;
  expect(JSON.stringify(body)).toContain('SignatureDoesNotMatch');
});

it('refuses an action that is not there', async () => {
  const params = { Action: 'GetPlayInfo', Version: '2020-08-01' };
  const { status, body } = await send('volcengine-vod', 'vod', { method: 'GET', params });
  expect([status, JSON.stringify(body)]).toEqual([404, expect.stringContaining('InvalidActionOrVersion')]);
});

it('refuses work that is not done here as one that nobody does', async () => {
  const params = { Action: 'CVSubmitTask', Version: '2022-08-31' };
  const body = { req_key: 'jimeng_t2i_v31', prompt: 'a lighthouse' };
  const refused = await send('volcengine', 'cv', { method: 'POST', params, body });
  expect(refused).toMatchObject({ status: 400, body: { code: 50200, message: 'Invalid req_key' } });
});
