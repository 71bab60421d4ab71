import { describe, expect, it } from 'vitest';

import { decodeBytes } from './exchange.ts';
import { removeSecrets } from './secrets.ts';

const json = { 'content-type': 'application/json' };

describe('withoutSecretsOf', () => {
  it('removes credentials from headers, addresses and bodies, and leaves the rest as it was', async () => {
    const clean = await removeSecrets({
      at: '',
      request: {
        method: 'POST',
        target: '/auth/idp/refresh?access_token=SECRET1&code=SECRET2&x=1',
        headers: { ...json, authorization: 'Bearer SECRET3', cookie: 'SECRET4', accept: '*/*' },
        body: { text: '{"refresh_token":"SECRET5","user_id":"u"}' },
      },
      response: {
        status: 200,
        headers: { ...json, 'set-cookie': 'a=SECRET6', location: 'https://x/?state=SECRET7' },
        body: { text: '{"data":{"access_token":"SECRET8","expires_in":3600}}' },
      },
    });
    const text = JSON.stringify(clean);
    expect(text).not.toContain('SECRET');
    expect(clean.request.target).toBe('/auth/idp/refresh?access_token=[redacted]&code=[redacted]&x=1');
    expect(clean.request.headers['accept']).toBe('*/*');
    expect(text).toContain('expires_in');
  });

  it('keeps the code of a template, and removes secrets of forms', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const clean = await removeSecrets({
      at: '',
      request: { method: 'POST', target: '/x', headers: form, body: { text: 'prompt=a+b&api_key=SECRET' } },
      response: { status: 200, headers: json, body: { text: '{"data":{"code":"portrait"}}' } },
    });
    expect(clean.request.body).toEqual({ text: 'prompt=a+b&api_key=[redacted]' });
    expect(clean.response.body).toEqual({ text: '{"data":{"code":"portrait"}}' });
  });

  it('removes a secret field of a multipart form, and keeps the others and the files', async () => {
    const form = new FormData();
    form.set('prompt', 'a fox');
    form.set('api_key', 'SECRET');
    form.set('image', new Blob([new Uint8Array([0, 255, 13, 10])]), 'a.png');
    const sent = new Response(form);
    const type = sent.headers.get('content-type') ?? '';
    const base64 = Buffer.from(await sent.arrayBuffer()).toString('base64');
    const request = { method: 'POST', target: '/x', headers: { 'content-type': type }, body: { base64 } };
    const response = { status: 200, headers: {}, body: null };
    const clean = await removeSecrets({ at: '', request, response });
    const bytes = decodeBytes(clean.request.body) ?? Buffer.alloc(0);
    const read = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
    expect([read.get('prompt'), read.get('api_key')]).toEqual(['a fox', '[redacted]']);
    expect(Buffer.from(await (read.get('image') as Blob).arrayBuffer())).toEqual(
      Buffer.from([0, 255, 13, 10]),
    );
  });
});
