import { expect, it } from 'vitest';

import { readCheckedFile } from './checked-file.ts';

const file = { setting: 'SOME_FILE', path: '/etc/kiln/some.json', text: '{\n  "url": "",\n  "key": 7\n}' };

it('a file is refused with all of its mistakes by their lines, of each field the first', () => {
  const read = () =>
    readCheckedFile(file, (_, report) => {
      report(['key'], 'must be a text');
      report(['url'], 'names a variable that is not set');
      report(['url'], 'must not be empty');
    });
  expect(read).toThrow(
    expect.objectContaining({
      code: 'NOT_CONFIGURED',
      message: expect.stringMatching(
        /some\.json, line 2: url names a variable that is not set\s+.*some\.json, line 3: key must be a text$/,
      ),
    }),
  );
  expect(read).not.toThrow('must not be empty');
});

it('a file without mistakes is what is read of it', () => {
  expect(readCheckedFile(file, ({ value }) => value)).toEqual({ url: '', key: 7 });
});
