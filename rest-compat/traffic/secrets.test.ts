import { describe, expect, it } from 'vitest';

import { withoutSecretsOf } from './secrets.ts';

const json = { 'content-type': 'application/json' };

describe('withoutSecretsOf', () => {
  it('removes credentials from headers, addresses and bodies, and leaves the rest as it was', async () => {
    const clean = await withoutSecretsOf({
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
    const clean = await withoutSecretsOf({
      at: '',
      request: { method: 'POST', target: '/x', headers: form, body: { text: 'prompt=a+b&api_key=SECRET' } },
      response: { status: 200, headers: json, body: { text: '{"data":{"code":"portrait"}}' } },
    });
    expect(clean.request.body).toEqual({ text: 'prompt=a+b&api_key=[redacted]' });
    expect(clean.response.body).toEqual({ text: '{"data":{"code":"portrait"}}' });
  });
});
