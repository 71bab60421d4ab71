import { Readable } from 'node:stream';

import { expect, it } from 'vitest';

import { AppError } from '../../../../../platform/errors.ts';
import type { HttpClient } from '../../../../../platform/http/http-client.ts';
import type { FileService, NewFile } from '../../../files/files.ts';
import { createInputFetcher } from './input-files.ts';

/** What is asked of a foreign host for an input, and what is kept of its answer. */

const signal = new AbortController().signal;

function fetching(
  answer: { readonly status?: number; readonly headers?: Record<string, string> } = {},
  storing: () => Promise<void> = async () => undefined,
) {
  const asked: object[] = [];
  const kept: NewFile[] = [];
  const body = Readable.from(['bytes']);
  const http = {
    download: async (request: object) => {
      asked.push(request);
      return { status: 200, headers: { 'content-type': 'image/png' }, body, ...answer };
    },
  } as unknown as HttpClient;
  const store = async (file: NewFile) => {
    await storing();
    kept.push(file);
    return { contentType: 'image/png' };
  };
  const fetchInput = createInputFetcher({ http, files: { store } as unknown as FileService });
  const ask = (url: string) => fetchInput({ url, field: 'image', kind: 'image', signal });
  return { ask, asked, kept, body };
}

it('is called like the last part of its path, and kept for a while', async () => {
  const { ask, asked, kept } = fetching();
  for (const url of ['https://host/a/fox.png?size=2', 'https://host/a/', 'https://host']) await ask(url);
  expect(kept.map(({ name }) => name)).toEqual(['fox.png', 'input', 'input']);
  expect(kept[0]).toMatchObject({ owner: 'internal', declaredType: 'image/png', temporary: true });
  expect(asked[0]).toMatchObject({ method: 'GET', url: 'https://host/a/fox.png?size=2', retry: 'safe' });
});

it('is not refused while our own store is away: nothing is wrong with it', async () => {
  const away = new AppError('UNAVAILABLE', 'the object storage does not answer');
  const { ask } = fetching({}, async () => Promise.reject(away));
  await expect(ask('https://host/fox.png')).rejects.toBe(away);
});

it('is refused by name, and not read, where its host answers otherwise', async () => {
  const { ask, kept, body } = fetching({ status: 204 });
  await expect(ask('https://host/fox.png')).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    message: expect.stringContaining('fetching it answered HTTP 204'),
  });
  expect([kept, body.destroyed]).toEqual([[], true]);
});

it('has the type that is found in it where its host declares none', async () => {
  const { ask, kept } = fetching({ headers: {} });
  await ask('https://host/fox');
  expect(kept[0]).toMatchObject({ name: 'fox', declaredType: null });
});
