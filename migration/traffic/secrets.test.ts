import { describe, expect, it } from 'vitest';

import { decodeBytes, type RecordedBody } from './exchange.ts';
import { removeSecrets } from './secrets.ts';

const json = { 'content-type': 'application/json' };

describe('withoutSecretsOf', () => {
  it('removes credentials from headers, addresses and bodies, and leaves the rest as it was', () => {
    const clean = removeSecrets({
      at: '',
      request: {
        method: 'POST',
        target: '/auth/idp/refresh?access_token=SECRET1&code=SECRET2&x=1',
        headers: { ...json, authorization: 'Bearer SECRET3', cookie: 'SECRET4', accept: '*/*' },
        body: { text: '{"refresh_token":"SECRET5","user_id":"u"}' },
      },
      response: {
        status: 200,
        headers: { ...json, 'set-cookie': 'a=SECRET6', location: 'https://u:SECRET7@x/?state=SECRET9' },
        body: { text: '{"data":{"access_token":"SECRET8","expires_in":3600}}' },
      },
    });
    const text = JSON.stringify(clean);
    expect(text).not.toContain('SECRET');
    expect(clean.request.target).toBe('/auth/idp/refresh?access_token=[redacted]&code=[redacted]&x=1');
    expect(clean.request.headers['accept']).toBe('*/*');
    expect(text).toContain('expires_in');
  });

  it('keeps the code of a template, and removes secrets of forms', () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const clean = removeSecrets({
      at: '',
      request: { method: 'POST', target: '/x', headers: form, body: { text: 'prompt=a+b&api_key=SECRET' } },
      response: { status: 200, headers: json, body: { text: '{"data":{"code":"portrait"}}' } },
    });
    expect(clean.request.body).toEqual({ text: 'prompt=a+b&api_key=[redacted]' });
    expect(clean.response.body).toEqual({ text: '{"data":{"code":"portrait"}}' });
  });

  it('removes a secret field of a multipart form and secrets of JSON in others, and keeps the rest and the files', async () => {
    const form = new FormData();
    form.set('prompt', 'a fox');
    form.set('api_key', 'SECRET');
    form.set('options', '{"user":{"access_token":"SECRET"},\r\n\r\n"n":1}');
    form.set('log', new Blob(['{"password":"SECR']), 'log.json');
    form.set('image', new Blob([new Uint8Array([0, 255, 13, 10])]), 'a.png');
    const sent = new Response(form);
    const type = sent.headers.get('content-type') ?? '';
    const base64 = Buffer.from(await sent.arrayBuffer()).toString('base64');
    const request = { method: 'POST', target: '/x', headers: { 'content-type': type }, body: { base64 } };
    const response = { status: 200, headers: {}, body: null };
    const clean = removeSecrets({ at: '', request, response });
    const bytes = decodeBytes(clean.request.body) ?? Buffer.alloc(0);
    const read = await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
    expect([read.get('prompt'), read.get('api_key')]).toEqual(['a fox', '[redacted]']);
    expect(read.get('options')).toBe('{"user":{"access_token":"[redacted]"},\r\n\r\n"n":1}');
    expect(await (read.get('log') as Blob).text()).toBe('{"password":"[redacted]');
    expect(Buffer.from(await (read.get('image') as Blob).arrayBuffer())).toEqual(
      Buffer.from([0, 255, 13, 10]),
    );
  });

  describe('of bodies that were cut off', () => {
    const cut = (type: string | undefined, body: RecordedBody) => {
      const headers = type === undefined ? {} : { 'content-type': type };
      const request = { method: 'POST', target: '/x', headers, body };
      const response = { status: 200, headers, body };
      const clean = removeSecrets({ at: '', request, response });
      const texts = [clean.request.body, clean.response.body].map((one) => decodeBytes(one)?.toString());
      expect(texts[0]).toBe(texts[1]);
      return texts[0];
    };

    it.each([
      ['{"prompt":"a \\"fox\\"","api_key":"SECRET', '{"prompt":"a \\"fox\\"","api_key":"[redacted]'],
      [
        '{"user":{"access_token" : "SEC\\"RET","id":1},"b',
        '{"user":{"access_token" : "[redacted]","id":1},"b',
      ],
      ['[{"password":"SECRET\\', '[{"password":"[redacted]'],
    ])('removes them from JSON: %s', (body, clean) => {
      expect(cut('application/json', { text: body })).toBe(clean);
      const base64 = Buffer.from(body).toString('base64');
      expect(cut(undefined, { base64 })).toBe(clean);
    });

    it('removes them from each event of a stream', () => {
      const events = 'data: {"access_token":"SECRET","n":1}\n\ndata: {"api_key":"SEC';
      const clean = 'data: {"access_token":"[redacted]","n":1}\n\ndata: {"api_key":"[redacted]';
      expect(cut('text/event-stream', { text: events })).toBe(clean);
    });

    it('removes them from forms, whatever the case of their type', () => {
      const form = 'prompt=a+b&passwd=SEC';
      const type = 'Application/X-WWW-Form-Urlencoded';
      expect(cut(type, { text: form })).toBe('prompt=a+b&passwd=[redacted]');
    });

    it('removes them from multipart forms, where headers may end as well', () => {
      const part = (name: string) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`;
      const whole = `${part('api_key')}SECRET\r\n${part('prompt')}name="password"\r\n${part('password')}`;
      const clean = whole.replace('SECRET', '[redacted]');
      const base64 = (text: string) => ({ base64: Buffer.from(text).toString('base64') });
      const type = 'Multipart/Form-Data; boundary=b';
      expect(cut(type, base64(`${whole}SECR`))).toBe(`${clean}[redacted]\r\n`);
      const headerAlone = part('options');
      expect(cut(type, base64(headerAlone))).toBe(headerAlone);
      const unfinished = '--b\r\nContent-Disposition: form-data; name="api_key"';
      expect(cut(type, base64(unfinished))).toBe(unfinished);
    });

    it('leaves the bytes of files', () => {
      const base64 = Buffer.from('\0"api_key":"no secret, by chance"').toString('base64');
      const request = { method: 'POST', target: '/x', headers: {}, body: { base64 } };
      const clean = removeSecrets({
        at: '',
        request,
        response: { status: 200, headers: {}, body: null },
      });
      expect(clean.request.body).toEqual({ base64 });
    });
  });
});
