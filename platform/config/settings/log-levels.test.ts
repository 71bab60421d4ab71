import { expect, test } from 'vitest';

import { logLevels } from './log-levels.ts';

test('reads a level for all, and levels of parts after it', () => {
  expect(logLevels.parse('info')).toEqual({ level: 'info', parts: {} });
  expect(logLevels.parse('info, worker=debug, media=silent')).toEqual({
    level: 'info',
    parts: { worker: 'debug', media: 'silent' },
  });
});

test.each(['', 'loud', 'worker=debug', 'info,door=debug', 'info,worker', 'info,worker=debug=warn'])(
  'refuses %j and names what is allowed',
  (text) => {
    const { error } = logLevels.safeParse(text);
    expect(error?.issues[0]?.message).toContain('silent, error, warn, info, debug');
  },
);
