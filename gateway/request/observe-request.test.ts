import { EventEmitter } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { expect, it } from 'vitest';

import { internalCaller } from '../../platform/access/caller.ts';
import { noteRequest } from '../../platform/http/server.ts';
import { newId } from '../../platform/ids.ts';
import { noMetrics } from '../../platform/metrics/metrics.ts';
import { silentLogger } from '../../platform/process/logger.ts';
import { createRequestObserver } from './observe-request.ts';
import { attachContext, readTraceId, requireContext } from './request-context.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';

/** What is measured, logged and traced of one request. */
function observed(
  given: { readonly method?: string; readonly url?: string; readonly headers?: object },
  {
    status = 200,
    handle = () => undefined,
  }: { status?: number; handle?: (request: IncomingMessage, response: ServerResponse) => void },
) {
  const seen: (readonly unknown[])[] = [];
  const note = (level: string) => (fields: object | string) => void seen.push([level, fields]);
  const logger = { ...silentLogger(), debug: note('debug'), info: note('info'), warn: note('warn') };
  const metrics = { ...noMetrics, histogram: () => (labels: object) => void seen.push(['metric', labels]) };
  const span = {
    traceparent: '',
    child: () => span,
    rename: (name: string) => void seen.push(['span', name]),
    set: (fields: object) => void seen.push(['span is', fields]),
    fail: () => undefined,
    end: () => void seen.push(['span ends']),
  };
  const started: unknown[] = [];
  const tracer = { start: (...asked: unknown[]) => (started.push(asked), span) };
  const request = Object.assign(new EventEmitter(), {
    method: 'GET',
    url: '/',
    headers: {},
    complete: true,
    ...given,
  });
  const headers: Record<string, unknown> = {};
  const response = Object.assign(new EventEmitter(), {
    statusCode: status,
    closed: false,
    setHeader: (name: string, value: unknown) => void (headers[name] = value),
  });
  let isRun = false;
  createRequestObserver({ logger, metrics, tracer })(request as never, response as never, () => {
    isRun = true;
    handle(request as never, response as never);
  });
  expect([isRun, seen]).toEqual([true, []]);
  response.emit('close');
  const line = (seen.find(([kind]) => ['debug', 'info', 'warn'].includes(String(kind))) ?? []) as [
    string,
    { ms: number },
  ];
  const { ms, ...fields } = line[1];
  expect(ms).toBeGreaterThanOrEqual(0);
  return { seen, headers, started, level: line[0], fields };
}

it('a request is measured, traced and logged by its route, without the ids and secrets of its address', () => {
  const { seen, headers, started, level, fields } = observed(
    { url: `/files/${newId()}/x?sig=secret`, headers: { traceparent: `00-${TRACE}-b7ad6b7169203331-01` } },
    {},
  );
  expect(headers).toEqual({ 'X-Trace-Id': TRACE, 'X-Content-Type-Options': 'nosniff' });
  expect([level, fields]).toEqual([
    'debug',
    { traceId: TRACE, method: 'GET', path: '/files/:id/x', status: 200 },
  ]);
  expect(started).toMatchObject([['GET', { kind: 'server', traceId: TRACE }]]);
  expect(seen.slice(0, 4)).toEqual([
    ['metric', { method: 'GET', route: '/files', status: '200' }],
    ['span', 'GET /files'],
    ['span is', { 'http.route': '/files', 'http.response.status_code': 200 }],
    ['span ends'],
  ]);
});

it('what changes something is logged with who asked and what was changed, and failures of ours as warnings', () => {
  const change = (
    more: object,
    handle: (request: IncomingMessage, response: ServerResponse) => void,
    status = 200,
  ) => observed(more, { status, handle });
  const rest = change({ method: 'POST', url: '/api/x' }, (request, response) => {
    noteRequest(response, { route: '/api/x' });
    attachContext(request, response, internalCaller('t'));
  });
  expect([rest.level, rest.fields]).toEqual([
    'info',
    expect.objectContaining({ caller: 'internal', path: '/api/x' }),
  ]);
  expect(rest.fields).not.toHaveProperty('changes');
  expect(rest.seen[0]).toEqual(['metric', { method: 'POST', route: '/api/x', status: '200' }]);
  const mutation = change({ method: 'GET', url: '/graphql' }, (_request, response) =>
    noteRequest(response, { changes: ['cancelTask'] }),
  );
  expect([mutation.level, mutation.fields]).toEqual([
    'info',
    expect.objectContaining({ caller: null, changes: ['cancelTask'] }),
  ]);
  expect(change({ method: 'HEAD' }, (_, response) => noteRequest(response, { route: '/api/x' })).level).toBe(
    'debug',
  );
  expect(change({ method: 'POST', url: '/graphql' }, () => undefined).level).toBe('debug');
  expect([500, 499].map((status) => change({}, () => undefined, status).level)).toEqual(['warn', 'debug']);
});

it('labels are few, whatever is sent', () => {
  const label = (method: string, url: string) => observed({ method, url }, {}).seen[0];
  expect(label('BREW', '/unknown/x')).toEqual(['metric', { method: 'other', route: 'other', status: '200' }]);
  expect(label('POST', '/graphql?x=/files')).toEqual([
    'metric',
    { method: 'POST', route: '/graphql', status: '200' },
  ]);
  const { fields } = observed({ url: `/console/usr_${newId()}/key_abc/ses_x` }, {});
  expect(fields).toMatchObject({ path: '/console/:id/:id/:id' });
});

it('the trace of a request is the one that its sender names, else a new one, and stays the same', () => {
  const request = (traceparent?: string | string[]) =>
    ({ headers: { traceparent } }) as unknown as IncomingMessage;
  const own = request();
  expect(readTraceId(own)).toMatch(/^[0-9a-f]{32}$/);
  expect(readTraceId(own)).toBe(readTraceId(own));
  const given = request(`00-${TRACE}-b7ad6b7169203331-01`);
  expect([readTraceId(given), readTraceId(given)]).toEqual([TRACE, TRACE]);
  for (const wrong of ['x', [`00-${TRACE}-b7ad6b7169203331-01`]])
    expect(readTraceId(request(wrong))).not.toBe(TRACE);
});

it('the caller of a request is there once it is known, and its stream is reserved for it', () => {
  const request = { headers: {} } as IncomingMessage;
  const response = Object.assign(new EventEmitter(), { closed: false }) as unknown as ServerResponse;
  expect(() => requireContext(request)).toThrow('the request has no caller yet');
  const caller = internalCaller('t');
  attachContext(request, response, caller);
  expect(requireContext(request)).toMatchObject({ caller, response, headers: request.headers });
  expect(requireContext(request).reserveStream).toBeUndefined();
  const asked: unknown[] = [];
  attachContext(request, response, caller, (...words) => (asked.push(words), null));
  expect([requireContext(request).reserveStream?.(), asked]).toEqual([
    null,
    [[response, { request, caller }]],
  ]);
});
