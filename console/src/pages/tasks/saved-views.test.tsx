import { expect, it } from 'vitest';

import { sameView, withoutView, withView } from './saved-views.tsx';

it('keeps one view of a name, the newest last, and twenty at most', () => {
  const failed = { name: 'Failed', search: { state: 'FAILED' } };
  const slow = { name: 'Slow', search: { type: 'VIDEO', state: 'RUNNING' } };
  const again = { name: 'Failed', search: { state: 'FAILED', find: 'fox' } };
  expect(withView([failed, slow], again)).toEqual([slow, again]);
  expect(withoutView([failed, slow], 'Failed')).toEqual([slow]);
  const many = Array.from({ length: 20 }, (_, index) => ({ name: `${index}`, search: {} }));
  expect(withView(many, slow)).toHaveLength(20);
  expect(withView(many, slow).at(-1)).toBe(slow);
});

it('knows a view by its filters, in whatever order an address has them', () => {
  expect(sameView({ state: 'FAILED', find: 'fox' }, { find: 'fox', state: 'FAILED' })).toBe(true);
  expect(sameView({ state: 'FAILED' }, {})).toBe(false);
});
