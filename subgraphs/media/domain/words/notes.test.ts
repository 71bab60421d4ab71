import { describe, expect, it } from 'vitest';

import { noteForms, readNote } from './notes.ts';

/** What a note without values is read as. */
const BARE = { aspectRatio: null, size: null, usedAspectRatio: null };

describe('the notes on results', () => {
  // Rows keep these sentences for as long as they exist: none of them may get another code, or none.
  it.each([
    [
      'SHAPE_OF_PICTURE',
      'aspect ratio 16:9 was not used: the video has the shape of its picture',
      { aspectRatio: '16:9' },
    ],
    [
      'SHAPE_OF_SIZE',
      'aspect ratio 16:9 was not used: the size 512x512 decides',
      { aspectRatio: '16:9', size: '512x512' },
    ],
    [
      'NEAREST_SHAPE',
      'aspect ratio 5:4 was met by 4:3, the nearest that this model makes',
      { aspectRatio: '5:4', usedAspectRatio: '4:3' },
    ],
    ['VIDEO_MISSING', 'the video is missing: no generator for videos is configured here', {}],
    ['OTHER', 'the colours are paler', {}],
  ])('are read as %s: "%s"', (code, text, values) => {
    expect(readNote(text)).toEqual({ ...BARE, code, text, ...values });
  });

  it('all have a code', () => {
    for (const [code, forms] of Object.entries(noteForms)) {
      for (const form of forms) expect(readNote(form.replaceAll(/\{\w+\}/g, 'x')).code).toBe(code);
    }
  });
});
