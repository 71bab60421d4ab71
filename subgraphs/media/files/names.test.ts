import { expect, test } from 'vitest';

import { safeName } from './names.ts';

test.each([
  ['cat.png', 'cat.png'],
  ['../../etc/passwd', 'passwd'],
  ['C:\\Users\\x\\my photo (1).PNG', 'my-photo-1-.PNG'],
  ['..hidden', 'hidden'],
  ['猫.jpg', '猫.jpg'],
  ['a\u202egnp.exe', 'a-gnp.exe'],
  ['a"\r\nb', 'a-b'],
  ['', 'file'],
  ['/', 'file'],
  ['...', 'file'],
  [`${'x'.repeat(300)}.jpeg`, `${'x'.repeat(95)}.jpeg`],
])('keeps of %j the safe tail %j', (name, expected) => {
  expect(safeName(name)).toBe(expected);
});
