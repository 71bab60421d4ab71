import { expect, test } from 'vitest';

import { bannedWordOf } from './banned-word.ts';

test('finds banned words as whole words only', () => {
  expect(bannedWordOf('A Nude, please')).toBe('nude');
  expect(bannedWordOf('nudeness of the gorey kind')).toBeNull();
});
