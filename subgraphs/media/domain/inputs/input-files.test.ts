import { Readable } from 'node:stream';

import { describe, expect, it } from 'vitest';

import {
  prepareFile,
  type InputDependencies,
  type InputOptions,
} from '../../tasks/work/start/input-files.ts';
import { wrongFormat, type FileKind } from './input-files.ts';

describe('a file', () => {
  it.each<[FileKind, string]>([
    ['image', 'image/webp'],
    ['imageOrVideo', 'image/png'],
    ['imageOrVideo', 'video/mp4'],
    ['audio', 'audio/mpeg'],
    ['audio', 'video/webm'],
    ['media', 'audio/wav'],
    ['image', 'application/octet-stream'],
  ])('for a %s may be %s', (kind, type) => {
    expect(wrongFormat(kind, type)).toBeNull();
  });

  it.each<[FileKind, string, string]>([
    ['image', 'video/mp4', 'send an image; this is video/mp4'],
    ['imageOrVideo', 'audio/mpeg', 'send an image or a video; this is audio/mpeg'],
    ['audio', 'image/png', 'send a recording; this is image/png'],
    ['media', 'text/html', 'send an image, a recording or a video; this is text/html'],
  ])('for a %s may not be %s', (kind, type, words) => {
    expect(wrongFormat(kind, type)).toBe(`wrong file format, ${words}`);
  });
});

describe('a foreign file', () => {
  /** A world in which whatever is fetched is a page. */
  const engine = {
    http: { download: async () => ({ status: 200, headers: {}, body: Readable.from(['<html>']) }) },
    files: { store: async () => ({ id: 'f', name: 'a.png', contentType: 'text/html', bytes: 6 }) },
    limits: { downloadTimeoutMs: 1_000, maxInputBytes: 1_000 },
    inputAddress: async () => null,
    resources: { ofMedia: async () => [] },
  } as unknown as InputDependencies;
  const options = {
    owner: 'usr_me',
    binding: { provider: {} },
    signal: new AbortController().signal,
    timeout: new AbortController().signal,
  } as unknown as InputOptions;
  const ref = { url: 'https://example.org/a.png' };

  it('of the wrong kind ends the work before its provider learns of it', async () => {
    const prepared = prepareFile(engine, ref, { field: 'image', kind: 'image' }, options);
    await expect(prepared).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      retryable: false,
      field: 'image',
      message: 'image: wrong file format, send an image; this is text/html',
    });
  });

  it('that may be anything is taken', async () => {
    const prepared = await prepareFile(engine, ref, { field: 'inputs', kind: 'any' }, options);
    expect(prepared).toMatchObject({ contentType: 'text/html', bytes: 6 });
  });
});
