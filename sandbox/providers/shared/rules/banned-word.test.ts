import { expect, test } from 'vitest';

import { findBannedWord } from './banned-word.ts';

test('finds banned words as whole words only', () => {
  expect(findBannedWord('A Nude, please')).toBe('nude');
  expect(findBannedWord('nudeness of the gorey kind')).toBeNull();
});
