import { expect, it } from 'vitest';

import { isDisguised, toldType, detectType, accepts } from './files.ts';

const bytes = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));

it.each([
  ['\x89PNG\r\n\x1a\n', 'image/png'],
  ['RIFF\0\0\0\0WEBPVP8 ', 'image/webp'],
  ['RIFF\0\0\0\0WAVEfmt ', 'audio/wav'],
  ['\0\0\0\x20ftypisom', 'video/mp4'],
  ['\0\0\0\x20ftypM4A ', 'audio/mp4'],
  ['%PDF-1.7', 'application/pdf'],
  ['<!doctype html>', null],
  ['', null],
])('%j begins %s', (head, type) => {
  expect(detectType(bytes(head))).toBe(type);
});

it('a file is told by its bytes, not by its name', async () => {
  expect(await toldType(new File([bytes('\x89PNG')], 'a.jpg', { type: 'image/jpeg' }))).toBe('image/png');
  expect(await toldType(new File(['words'], 'a.png', { type: 'image/png' }))).toBeNull();
});

it('a file is disguised when its bytes are of another family, or of none where they always tell', () => {
  expect(isDisguised('image/png', 'application/pdf')).toBe(true);
  expect(isDisguised('image/png', null)).toBe(true);
  expect(isDisguised('image/jpeg', 'image/png')).toBe(false);
  expect(isDisguised('audio/mp4', 'video/mp4')).toBe(false);
  expect(isDisguised('audio/mpeg', null)).toBe(false);
  expect(isDisguised('image/svg+xml', null)).toBe(false);
});

it('a field takes files of the kinds and types that it names', () => {
  const taken = ['image/png', 'images/png', 'audio/wav', 'audio/mpeg'].filter((type) =>
    accepts('image/*,audio/wav', type),
  );
  expect(taken).toEqual(['image/png', 'audio/wav']);
  expect(accepts('', 'image/png')).toBe(false);
});
