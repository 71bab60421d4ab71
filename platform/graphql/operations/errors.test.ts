import { expect, it } from 'vitest';

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
