import type { IncomingMessage } from 'node:http';
import { ServerResponse } from 'node:http';

import { expect, it } from 'vitest';

import { type CorsOrigins, createCors } from './cors.ts';

const PREFLIGHT = {
  method: 'OPTIONS',
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization',
};

/** What is said of who may read the response to a request, and whether it goes on. */
function answered(origins: CorsOrigins, { method = 'GET', ...headers }: Record<string, string> = {}) {
  const request = { method, headers } as unknown as IncomingMessage;
  const response = new ServerResponse(request);
  const goesOn = createCors({ origins }).step({ request, response, path: '/' });
  const said: Record<string, unknown> = {
    goesOn,
    status: response.statusCode,
    isOver: response.writableEnded,
  };
  for (const [name, value] of Object.entries(response.getHeaders()))
    said[name] = name === 'access-control-expose-headers' ? String(value).includes('X-Trace-Id, ') : value;
  return said;
}

const GOES_ON = { goesOn: true, status: 200, isOver: false };
const ENDS = { goesOn: false, status: 204, isOver: true };
const LISTED = ['https://shop.example/'];
const EXPOSED = { 'access-control-expose-headers': true };
const ALLOWED = {
  'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
  'access-control-max-age': '600',
};

it('every page may read where no origins are named', () => {
  expect(answered('any')).toEqual(GOES_ON);
  const any = { 'access-control-allow-origin': '*', ...EXPOSED };
  const origin = 'https://any.example';
  expect(answered('any', { origin })).toEqual({ ...GOES_ON, ...any });
  expect(answered('any', { origin, ...PREFLIGHT })).toEqual({
    ...ENDS,
    ...any,
    ...ALLOWED,
    'access-control-allow-headers': 'authorization',
    vary: 'Access-Control-Request-Headers',
  });
});

it('only pages of origins that are named may read, and caches are told so', () => {
  const origin = 'https://shop.example';
  const own = { 'access-control-allow-origin': origin, ...EXPOSED };
  expect(answered(LISTED)).toEqual({ ...GOES_ON, vary: 'Origin' });
  expect(answered(LISTED, { origin })).toEqual({ ...GOES_ON, ...own, vary: 'Origin' });
  expect(answered(LISTED, { origin: 'https://x.example' })).toEqual({ ...GOES_ON, vary: 'Origin' });
  const { 'access-control-request-headers': _, ...plain } = PREFLIGHT;
  expect(answered(LISTED, { origin, ...plain })).toEqual({
    ...ENDS,
    ...own,
    ...ALLOWED,
    vary: 'Origin, Access-Control-Request-Headers',
  });
});

it('what asks without a right to is answered without one, and what is no such question goes on', () => {
  expect(answered(LISTED, { origin: 'https://x.example', ...PREFLIGHT })).toEqual({
    ...ENDS,
    vary: 'Origin',
  });
  expect(answered('any', PREFLIGHT)).toEqual(ENDS);
  expect(answered('any', { method: 'OPTIONS' })).toEqual(GOES_ON);
  expect(answered('any', { ...PREFLIGHT, method: 'POST' })).toEqual(GOES_ON);
});
