import { expect, it } from 'vitest';

import { maskSize } from './paint.ts';

it('a mask is as large as its image, up to a side', () => {
  expect([maskSize(100, 50), maskSize(4_096, 1_024), maskSize(1_000, 3_001)]).toEqual([
    { width: 100, height: 50 },
    { width: 2_048, height: 512 },
    { width: 682, height: 2_048 },
  ]);
});
