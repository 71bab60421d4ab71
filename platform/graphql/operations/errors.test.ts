import { expect, it } from 'vitest';

import { AppError } from '../../errors.ts';
import { createLogger } from '../../process/logger.ts';
import { failedResult } from './errors.ts';

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
  const extensionsOf = (error: AppError) => failedResult(error, at).errors?.[0]?.extensions;
  const problems = [{ field: 'prompt', message: 'must not be empty' }];
  expect(extensionsOf(new AppError('BAD_USER_INPUT', 'no', { field: 'prompt', problems }))).toEqual({
    code: 'BAD_USER_INPUT',
    field: 'prompt',
    problems,
  });
  expect(extensionsOf(new AppError('RATE_LIMITED', 'later', { retryAfter: 3 }))).toEqual({
    code: 'RATE_LIMITED',
    retryAfter: 3,
  });
});
