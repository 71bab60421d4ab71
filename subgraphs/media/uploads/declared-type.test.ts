import { expect, it } from 'vitest';

import { declaredTypeProblem } from './declared-type.ts';

it.each([
  ['image/png', 'image/jpeg'],
  ['image/svg+xml', undefined],
  ['audio/mpeg', undefined],
  ['audio/mp4', 'video/mp4'],
  ['audio/webm', 'video/webm'],
  ['text/plain', undefined],
  ['application/octet-stream', 'image/png'],
  [null, 'application/pdf'],
])('a file that is declared as %s and begins as %s is taken', (declared, seen) => {
  expect(declaredTypeProblem(declared, seen)).toBeNull();
});

it.each([
  ['image/png', 'application/pdf', 'is declared as image/png, and is application/pdf'],
  ['image/png', 'video/mp4', 'is declared as image/png, and is video/mp4'],
  ['video/mp4', 'image/png', 'is declared as video/mp4, and is image/png'],
  ['audio/wav', 'application/zip', 'is declared as audio/wav, and is application/zip'],
  ['Image/PNG; q=1', undefined, 'is declared as image/png, and is none'],
])('a file that is declared as %s and begins as %s is refused', (declared, seen, problem) => {
  expect(declaredTypeProblem(declared, seen)).toBe(problem);
});
