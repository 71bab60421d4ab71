import { expect, test } from 'vitest';

import { plainType, safeName, storedName } from './names.ts';

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

test.each([
  ['result-1', 'image/png', 'result-1.png'],
  ['result-1', 'image/jpeg; q=1', 'result-1.jpg'],
  ['take.2', 'video/mp4', 'take.2.mp4'],
  ['cat.jpg', 'image/png', 'cat.jpg'],
  ['photo.HEIC', 'image/heic', 'photo.HEIC'],
  ['notes', null, 'notes'],
  ['notes', 'application/x-unheard-of', 'notes'],
  ['', 'text/plain', 'file.txt'],
  ['x'.repeat(300), 'image/png', `${'x'.repeat(96)}.png`],
])('keeps %j of the type %s as %j', (name, contentType, expected) => {
  expect(storedName(name, contentType)).toBe(expected);
});

test.each([
  ['Image/PNG; charset=x', 'image/png'],
  ['application/x-thing', 'application/x-thing'],
  ['text/plain\r\nX-Injected: 1', 'application/octet-stream'],
  ['nonsense', 'application/octet-stream'],
  [null, 'application/octet-stream'],
])('the plain type of %j is %s', (declared, type) => {
  expect(plainType(declared)).toBe(type);
});
