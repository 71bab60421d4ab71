import { existsSync } from 'node:fs';
import path from 'node:path';

import { describe, expect, it } from 'vitest';

import { isLeftOut, isWhole, WHOLE_ONLY } from './extent.ts';
import { LONGEST } from './longest-tests.ts';

const root = path.resolve(import.meta.dirname, '../..');
const [file = ''] = Object.keys(WHOLE_ONLY);

describe('files that are named with how they are run', () => {
  it('are there', () => {
    const named = [...LONGEST, ...Object.keys(WHOLE_ONLY)];
    expect(named.filter((name) => !existsSync(path.join(root, name)))).toEqual([]);
  });
});

describe('a file that npm test leaves out', () => {
  it.each([
    [
      'is run where the run names it, or its folder',
      [
        ['run', file],
        ['run', `${path.dirname(file)}/`],
      ],
      false,
    ],
    [
      'is left out of all other runs of npm test',
      [['run'], ['run', '--project', 'shared'], ['run', 'platform/']],
      !isWhole,
    ],
  ] as const)('%s', (_, runs, expected) => {
    expect(runs.map((words) => isLeftOut(file, words))).toEqual(runs.map(() => expected));
  });
});
