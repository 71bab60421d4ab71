import { expect, test } from 'vitest';

import { figuresIn, listHomes } from './figures.ts';

test.each([
  ['a red fox in the snow', ['fox']],
  ['two dogs and a bicycle', ['dog', 'bicycle']],
  ['一只狐狸和一条鲸鱼', ['fox', 'whale']],
  ['长颈鹿与斑马', ['giraffe', 'zebra']],
  ['a carpet on a seahorse-coloured wall', []],
  ['puppies, mice and wolves', ['dog', 'mouse', 'wolf']],
])('%s names %j', (prompt, names) => {
  expect(figuresIn(prompt)).toEqual(names);
});

test('a figure is set where it is found', () => {
  expect(listHomes('whale')).toEqual(['sea']);
  expect(listHomes('clock')).toEqual(['room']);
  expect(listHomes('fox')).not.toContain('sea');
});
