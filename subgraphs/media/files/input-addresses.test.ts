import { expect, it } from 'vitest';

import { createInputAddress } from './input-addresses.ts';

const PUBLIC = 'https://kiln.example.org/api';
const file = { id: 'f', name: 'a.png', contentType: 'image/png' } as never;

interface Case {
  readonly publicUrl?: string;
  readonly storeAddress?: string;
  readonly fetchesInputs?: boolean;
  readonly sandbox?: boolean;
}

function findAddress({ publicUrl = PUBLIC, storeAddress, fetchesInputs = true, sandbox = false }: Case) {
  const address = createInputAddress({
    files: {
      formatUrl: () => `${publicUrl}/files/f/a.png?expires=1&signature=s`,
      locate: async () => ({ objectKey: 'media/f' }) as never,
    },
    store: { address: async (key) => (storeAddress === undefined ? null : `${storeAddress}/${key}`) },
    publicUrl,
    localUrl: 'http://127.0.0.1:4000/api',
  });
  return address(file, { provider: { fetchesInputs }, sandbox });
}

it.each<[string, Case, string | null]>([
  ['a public server: the file’s own', {}, `${PUBLIC}/files/f/a.png?expires=1&signature=s`],
  [
    'a public server, for whoever takes bytes too',
    { fetchesInputs: false },
    `${PUBLIC}/files/f/a.png?expires=1&signature=s`,
  ],
  ['a server that is not public', { publicUrl: 'http://127.0.0.1:4000' }, null],
  ['https of a private address', { publicUrl: 'https://10.0.0.1' }, null],
  [
    'a public store behind it: the store’s',
    { publicUrl: 'http://127.0.0.1:4000', storeAddress: 'https://s3.example.com/b' },
    'https://s3.example.com/b/media/f',
  ],
  [
    'a public store, for whoever takes bytes',
    { publicUrl: 'http://127.0.0.1:4000', storeAddress: 'https://s3.example.com/b', fetchesInputs: false },
    null,
  ],
  [
    'a store that is not public',
    { publicUrl: 'http://127.0.0.1:4000', storeAddress: 'http://127.0.0.1:9000' },
    null,
  ],
  [
    'the sandbox, whatever the public address',
    { sandbox: true },
    'http://127.0.0.1:4000/api/files/f/a.png?expires=1&signature=s',
  ],
  ['a stand-in that takes bytes', { sandbox: true, fetchesInputs: false }, null],
])('gives an upstream of %s', async (_what, given, expected) => {
  expect(await findAddress(given)).toBe(expected);
});
