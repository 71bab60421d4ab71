import { expect, test, vi } from 'vitest';

import { AppError } from '../errors.ts';
import { createLogger, type Logger } from './logger.ts';
import { REDACTED } from './redact.ts';

function logged(write: (logger: Logger) => void, pretty = false): string {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  write(createLogger({ level: 'debug', pretty, destination }));
  return lines.join('');
}

test('writes one JSON line with its level, time, fields and message', () => {
  const line = JSON.parse(logged((logger) => logger.child({ part: 'queue' }).warn({ jobs: 3 }, 'slow')));
  expect(line).toMatchObject({ level: 40, part: 'queue', jobs: 3, msg: 'slow' });
  expect(Date.parse(line.time)).not.toBeNaN();
});

test('takes the value of every key that names a secret, however deep', () => {
  const secret = 'hunter2-hunter2';
  const headers = {
    Authorization: secret,
    cookie: secret,
    'set-cookie': [secret],
    'x-api-key': secret,
    'mj-api-secret': secret,
    'Idempotency-Key': secret,
    'x-kiln-caller': secret,
  };
  const output = logged((logger) => {
    logger
      .child({ internalKey: secret })
      .info({ request: { headers }, access_token: secret, password: secret }, 'in');
  });
  expect(output).not.toContain(secret);
  expect(output).toContain(REDACTED);
});

test('keeps counts of tokens and codes of errors', () => {
  const line = JSON.parse(
    logged((logger) => logger.info({ maxTokens: 7, code: 'NOT_FOUND', sql: { code: '57P01' } }, '')),
  );
  expect(line).toMatchObject({ maxTokens: 7, code: 'NOT_FOUND', sql: { code: '57P01' } });
});

test.each([
  'GET /files/x?sig=hunter2&exp=1',
  'https://idp.example.org/callback?code=hunter2',
  'https://s3.example.org/x?X-Amz-Signature=hunter2',
  '/login?access_token=hunter2#x',
  'postgres://kiln:hunter2@db/kiln',
  'Authorization: Bearer hunter2hunter2',
  'the key sk-hunter2hunter2 is wrong',
  'eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJ1c3JfMSJ9.hunter2 was sent',
  'a cookie: eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..aXY.hunter2.dGFn',
  'renewed ses_MIQCT2dv0XkGhwSFApbZ3w.1.hunter2hunter2hunter2hunter2hunter2hunter2h',
])('takes the secret out of the text %s', (text) => {
  const output = logged((logger) => logger.info({ url: text }, text));
  expect(output).not.toContain('hunter2');
});

test('shortens the ids of what is stored, which open it, and keeps those of callers and traces', () => {
  const id = '01999c1e-6c0e-7d3a-9a52-0f3f2c9f5b1e';
  const traceId = id.replaceAll('-', '');
  const output = logged((logger) =>
    logger.info({ task: id, owner: `usr_${id}`, traceId, error: new Error(`no task ${id}`) }, `of ${id}`),
  );
  expect(JSON.parse(output)).toMatchObject({
    task: '01999c1e-6c0e-7d3a-...',
    owner: `usr_${id}`,
    traceId,
    error: { message: 'no task 01999c1e-6c0e-7d3a-...' },
    msg: 'of 01999c1e-6c0e-7d3a-...',
  });
});

test('writes an error with its code, stack and causes, all of them redacted', () => {
  const cause = Object.assign(new Error('connect to redis://u:hunter2@cache failed'), { token: 'hunter2' });
  const output = logged((logger) =>
    logger.error({ error: new AppError('UNAVAILABLE', 'no cache', { cause }) }, 'down'),
  );
  expect(JSON.parse(output).error).toMatchObject({
    name: 'AppError',
    code: 'UNAVAILABLE',
    message: 'no cache',
    stack: expect.stringContaining('logger.test.ts'),
    cause: { token: REDACTED },
  });
  expect(output).not.toContain('hunter2');
});

test('bounds what one line may hold, also when an object contains itself', () => {
  const circle: Record<string, unknown> = { text: 'x'.repeat(1_000_000), bytes: Buffer.alloc(1_000_000) };
  circle['self'] = circle;
  expect(logged((logger) => logger.info(circle, 'round')).length).toBeLessThan(50_000);
});

test('writes lines for people when asked to', () => {
  const output = logged(
    (logger) => logger.error({ error: new Error('boom'), port: 4000 }, 'not listening'),
    true,
  );
  expect(output).toMatch(/^\d\d:\d\d:\d\d error not listening port=4000\n {2}Error: boom\n/);
});

test('writes for people what is no text as JSON, and each cause of an error', () => {
  const cause = Object.assign(new Error('no cable'), { stack: undefined });
  const error = Object.assign(new Error('boom', { cause }), { stack: 'one\ntwo' });
  const written = logged(
    (logger) => logger.warn({ error, words: 'two words', quoted: '"', list: [1] }, 'away'),
    true,
  );
  expect(written.slice(9)).toBe(
    'warn  away words="two words" quoted="\\"" list=[1]\n  one\n  two\n  caused by:\n  no cable\n',
  );
  expect(logged((logger) => logger.info({ error: 'plain' }, 'away'), true).slice(9)).toBe(
    'info  away\n  plain\n',
  );
});

test('writes nothing below its level', () => {
  const lines: string[] = [];
  const logger = createLogger({ level: 'warn', destination: { write: (line) => void lines.push(line) } });
  logger.info('quiet');
  logger.child({}).debug('quiet');
  expect(lines).toEqual([]);
});

test('logs a part at its own level', () => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  const logger = createLogger({ level: 'warn', parts: { worker: 'debug' }, destination });
  logger.part('worker').debug('polled');
  logger.part('media').info('quiet');
  logger.info('quiet');
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ part: 'worker', msg: 'polled' }]);
});

test('leaves out warnings and errors that repeat in one minute, and nothing else', () => {
  const lines = (level: 'debug' | 'info' | 'warn' | 'error'): number =>
    logged((logger) => {
      for (let count = 0; count < 70; count += 1) logger[level]('away');
    }).match(/"away"/g)?.length ?? 0;
  expect([lines('debug'), lines('info'), lines('warn'), lines('error')]).toEqual([70, 70, 60, 60]);
});

test('says of a warning that is written again how many were left out', () => {
  vi.useFakeTimers();
  try {
    const lines = logged((logger) => {
      for (let count = 0; count < 63; count += 1) logger.warn('away');
      vi.advanceTimersByTime(60_001);
      logger.warn({ port: 1 }, 'away');
      logger.warn('away');
    });
    const [again, next] = lines
      .trim()
      .split('\n')
      .slice(60)
      .map((line) => JSON.parse(line) as object);
    expect(again).toMatchObject({ port: 1, leftOut: 3 });
    expect(next).not.toHaveProperty('leftOut');
  } finally {
    vi.useRealTimers();
  }
});
