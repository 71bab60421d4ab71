import { GraphQLError } from 'graphql';
import { expect, it } from 'vitest';

import { AppError } from '../../errors.ts';
import { createLogger } from '../../process/logger.ts';
import { failedResult, publicResult } from './errors.ts';

function origin(signal: AbortSignal) {
  const lines: string[] = [];
  const logger = createLogger({
    level: 'debug',
    destination: { write: (line: string) => void lines.push(line) },
  });
  return { lines, origin: { logger, traceId: 'trace', subgraph: 'media', signal } };
}

it('logs what nobody foresaw, and tells callers nothing of it', () => {
  const { lines, origin: at } = origin(new AbortController().signal);
  const { errors } = failedResult(new Error('secret'), at);
  expect(errors?.[0]).toMatchObject({
    message: 'internal error',
    extensions: { code: 'INTERNAL', traceId: 'trace' },
  });
  expect(lines.join('')).toContain('secret');
});

it('does not log what a caller breaks off by hanging up, but everything else that fails then', () => {
  const abort = new AbortController();
  abort.abort();
  const { lines, origin: at } = origin(abort.signal);
  expect(failedResult(abort.signal.reason, at).errors?.[0]?.extensions).toEqual({ code: 'UNAVAILABLE' });
  expect(lines).toEqual([]);
  failedResult(new Error('the disk is full'), at);
  expect(lines.join('')).toContain('the disk is full');
});

it('tells a caller the field, every problem and when to come back, each only where there is one', () => {
  const { origin: at } = origin(new AbortController().signal);
  const readExtensions = (error: AppError) => failedResult(error, at).errors?.[0]?.extensions;
  const problems = [{ field: 'prompt', message: 'must not be empty' }];
  expect(readExtensions(new AppError('BAD_USER_INPUT', 'no', { field: 'prompt', problems }))).toEqual({
    code: 'BAD_USER_INPUT',
    field: 'prompt',
    problems,
  });
  expect(readExtensions(new AppError('RATE_LIMITED', 'later', { retryAfter: 3 }))).toEqual({
    code: 'RATE_LIMITED',
    retryAfter: 3,
  });
});

it('tells a caller what a budget has left, and nothing of a failure of ours that has a code', () => {
  const { lines, origin: at } = origin(new AbortController().signal);
  const limit = { allowed: '10 USD a month', left: 2, renewsAt: null };
  expect(failedResult(new AppError('RATE_LIMITED', 'no', { limit }), at).errors?.[0]?.extensions).toEqual({
    code: 'RATE_LIMITED',
    budget: limit,
  });
  expect(lines).toEqual([]);
  expect(failedResult(new AppError('INTERNAL', 'a mistake'), at).errors?.[0]).toMatchObject({
    message: 'internal error',
    extensions: { code: 'INTERNAL', traceId: 'trace' },
  });
  expect(lines.join('')).toContain('a mistake');
});

it('says that the database is away, which is nothing to be woken for', () => {
  const { lines, origin: at } = origin(new AbortController().signal);
  const { errors } = failedResult(new Error('Connection terminated unexpectedly'), at);
  expect(errors?.[0]).toMatchObject({
    message: 'the database does not answer; try again in a moment',
    extensions: { code: 'UNAVAILABLE', retryAfter: 2 },
  });
  expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(['the database is away']);
  expect(lines.join('')).toMatch(/"level":("debug"|20)/);
});

it("leaves codes as they are, and knows mistakes in a request from a resolver's", () => {
  const { lines, origin: at } = origin(new AbortController().signal);
  const path = ['a', 1];
  const cause = new Error('why');
  const shown = (error: GraphQLError) => {
    const found = publicResult({ data: null, errors: [error] }, at).errors?.[0];
    return [found?.message, found?.extensions['code'], found?.path];
  };
  expect(shown(new GraphQLError('refused', { path, extensions: { code: 'OWN' } }))).toEqual([
    'refused',
    'OWN',
    path,
  ]);
  for (const message of ['Variable "$a" is wrong', 'Argument "a" is wrong'])
    expect(shown(new GraphQLError(message, { path, originalError: cause }))).toEqual([
      message,
      'BAD_USER_INPUT',
      path,
    ]);
  expect(shown(new GraphQLError('no such field'))).toEqual(['no such field', 'BAD_USER_INPUT', undefined]);
  expect(lines).toEqual([]);
  expect(shown(new GraphQLError('Cannot return null', { path }))).toEqual([
    'internal error',
    'INTERNAL',
    path,
  ]);
  expect(shown(new GraphQLError('why', { originalError: cause }))).toEqual([
    'internal error',
    'INTERNAL',
    undefined,
  ]);
  expect(lines).toHaveLength(2);
  expect(lines[0]).toContain('"path":"a.1"');
  const data = { a: 1 };
  const result = { data };
  expect(publicResult(result, at)).toBe(result);
  expect(publicResult({ data, errors: [] }, at).data).toBe(data);
});

it.each([
  [{ expose: true, status: 413 }, 'too large', 'PAYLOAD_TOO_LARGE'],
  [{ expose: true, status: 400 }, 'too large', 'BAD_USER_INPUT'],
  [{ expose: true, status: 499 }, 'too large', 'BAD_USER_INPUT'],
  [{ expose: true, status: 500 }, 'internal error', 'INTERNAL'],
  [{ expose: true, status: 399 }, 'internal error', 'INTERNAL'],
  [{ expose: false, status: 400 }, 'internal error', 'INTERNAL'],
  [{ expose: true, status: '400' }, 'internal error', 'INTERNAL'],
  [{ expose: true }, 'internal error', 'INTERNAL'],
  [{ status: 400 }, 'internal error', 'INTERNAL'],
])('shows the error of an upload that says of itself %j: %s', (says, message, code) => {
  const { origin: at } = origin(new AbortController().signal);
  const { errors } = failedResult(Object.assign(new Error('too large'), says), at);
  expect([errors?.[0]?.message, errors?.[0]?.extensions['code']]).toEqual([message, code]);
});
