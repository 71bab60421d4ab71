import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

import { describe, expect, it } from 'vitest';

import { comfyStyle } from '../../faces/comfy/failures.ts';
import { openaiStyle } from '../../faces/openai/answers/failures.ts';
import { AppError } from '../../platform/errors.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import type { EdgeStyle } from '../../rest-compat/replies/response-style.ts';
import { responseStyleAt } from '../../rest-compat/tables.ts';
import { readTraceId } from '../request/request-context.ts';
import { answerError, answerNotFound, mountBelow, sendError, type StyleAt } from './middleware.ts';

const logged: unknown[] = [];
const logger = { ...silentLogger(), error: (fields: object | string) => void logged.push(fields) };

/** What is answered where a handler has thrown. */
function failed(thrown: unknown, path = '/api/task/x', choose: StyleAt = responseStyleAt) {
  const request = new IncomingMessage(new Socket());
  const response = new ServerResponse(request);
  let text = '';
  response.end = ((sent: string) => ((text = sent), response)) as never;
  const styles: string[] = [];
  const styleAt = (own: string) => {
    styles.push(own);
    return choose(own);
  };
  sendError(thrown, { request, response, path, logger, basePath: '/kiln', styleAt });
  const entries = logged.splice(0) as { readonly traceId: string; readonly error: unknown }[];
  const traceId = readTraceId(request);
  expect(entries.every((entry) => entry.traceId === traceId)).toBe(true);
  expect(response.getHeader('cache-control')).toBe('no-store');
  return {
    status: response.statusCode,
    body: JSON.parse(text) as Record<string, unknown>,
    retryAfter: response.getHeader('retry-after'),
    errors: entries.map(({ error }) => error),
    traceId,
    styles,
  };
}

describe('what a handler has thrown', () => {
  it('is answered as what it is where that was foreseen', () => {
    const away = failed(new AppError('UNAVAILABLE', 'later', { retryAfter: 7 }));
    expect([away.status, away.retryAfter, away.errors]).toEqual([503, '7', []]);
    const unknown = failed(new AppError('UNAUTHENTICATED', 'who?'));
    expect([unknown.status, unknown.body['msg'], unknown.errors]).toEqual([401, 'who?', []]);
    const database = failed(Object.assign(new Error('x'), { code: '57P01' }));
    expect([database.status, database.retryAfter]).toEqual([503, '2']);
    const internal = new AppError('INTERNAL', 'secret');
    expect(failed(internal)).toMatchObject({ status: 500, errors: [internal] });
  });

  it('keeps the status of a mistake of the caller, and is masked and logged otherwise', () => {
    const thrown = (status: unknown) => Object.assign(new Error('words'), { status });
    const mistake = failed(thrown(414));
    expect([mistake.status, mistake.body['msg'], mistake.errors]).toEqual([414, 'words', []]);
    expect(failed(thrown(499)).status).toBe(499);
    for (const status of [500, 502, '404', undefined]) {
      const error = thrown(status);
      const { body, errors, traceId, ...answer } = failed(error);
      expect([answer.status, body['msg'], errors]).toEqual([
        500,
        `internal error, trace id ${traceId}`,
        [error],
      ]);
    }
    expect(failed('a text')).toMatchObject({ status: 500, errors: [expect.any(Error)] });
  });

  it('is a mistake of the server in the words of each API, unless it is one of the caller', () => {
    const errorIn = (style: EdgeStyle, status: number) =>
      failed(Object.assign(new Error('words'), { status }), '/', () => style).body['error'];
    expect([414, 500].map((status) => errorIn(openaiStyle, status))).toMatchObject([
      { type: 'invalid_request_error', message: 'words' },
      { type: 'server_error' },
    ]);
    expect([404, 414, 500].map((status) => errorIn(comfyStyle, status))).toMatchObject([
      { code: 'not_found' },
      { code: 'invalid_request' },
      { code: 'upstream_error' },
    ]);
  });

  it('is answered in the words of its path, without that of PUBLIC_URL and the query', () => {
    const findStyle = (path: string) => failed(new Error('x'), path).styles;
    expect(findStyle('/kiln/api/task/x?y=/z')).toEqual(['/api/task/x']);
    expect(findStyle('/kilns/x?y')).toEqual(['/kilns/x']);
    expect(findStyle('')).toEqual(['']);
  });

  it('is left to Node where the head of an answer is sent', () => {
    const request = { originalUrl: '/v1/x', headers: {} };
    const next: unknown[] = [];
    const sent: Record<string, unknown> = {};
    const response = { headersSent: true, setHeaders: () => undefined, setHeader: () => undefined };
    const end = (text: string) => (sent['body'] = JSON.parse(text));
    const error = new AppError('NOT_FOUND', 'none');
    const handle = (headersSent: boolean, styleAt?: () => typeof openaiStyle) => {
      const answering = Object.assign(response, { headersSent, end });
      answerError(logger, '', styleAt)(error, request as never, answering as never, (passed) =>
        next.push(passed),
      );
    };
    handle(true);
    expect([next.splice(0), sent]).toEqual([[error], {}]);
    handle(false, () => openaiStyle);
    expect([next, Object.keys(Object(sent['body']) as object)]).toEqual([[], ['error']]);
    handle(false);
    expect(sent['body']).not.toHaveProperty('error');
  });
});

describe('a path that nothing serves', () => {
  function asked(path: string, { method = 'GET', accept = 'text/html' } = {}) {
    const answer: Record<string, unknown> = {};
    const set = (name: string, value: unknown) => ((answer[name.toLowerCase()] = value), response);
    const response = {
      setHeader: set,
      set,
      setHeaders: (all: Map<string, string>) => all.forEach((value, name) => set(name, value)),
      status: (status: number) => set('status', status),
      vary: (name: string) => set('vary', name),
      type: (type: string) => set('type', type),
      send: (text: string) => set('text', text),
      end: (text: string) => set('text', text),
      statusCode: 0,
    };
    const request = { method, path, originalUrl: `/kiln${path}`, headers: { accept } };
    void answerNotFound('/kiln')(request as never, response as never, () => undefined);
    return { ...answer, text: String(answer['text']), code: response.statusCode };
  }

  it('is a page with the way to the console for browsers', () => {
    const page = asked(`/<b>${'x'.repeat(300)}`);
    expect(page).toMatchObject({ status: 404, 'cache-control': 'no-store', vary: 'Accept', type: 'html' });
    expect(page.text).toContain('<h1>There is nothing at this address</h1>');
    expect(page.text).toContain(`<p>/&lt;b&gt;${'x'.repeat(196)}</p>`);
    expect(page.text).toContain('<a href="/kiln/console/">Open the console</a>');
    expect(page).toHaveProperty('content-security-policy', expect.stringContaining("default-src 'none'"));
  });

  it('is told to programs in the words of its path', () => {
    for (const more of [{ accept: '*/*' }, { method: 'POST' }]) {
      const answer = asked(`/api/task/${'x'.repeat(300)}`, more);
      expect(answer).toMatchObject({ code: 404, 'cache-control': 'no-store' });
      expect(answer.text).toContain(`no such path: /api/task/${'x'.repeat(190)}"`);
    }
    expect(asked('/api/media/none', { accept: '*/*' }).text).toContain('"detail":"Not Found"');
  });
});

it('a handler is mounted at a folder and below it, and sees the whole path', async () => {
  const seen: string[] = [];
  const mount = mountBelow('/files', async ({ path }) => void seen.push(path));
  const passed: string[] = [];
  for (const path of ['/files', '/files/a/b', '/filesystem', '/'])
    await mount({ path } as never, {} as never, () => void passed.push(path));
  expect([seen, passed]).toEqual([
    ['/files', '/files/a/b'],
    ['/filesystem', '/'],
  ]);
});
