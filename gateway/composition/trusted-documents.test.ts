import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { afterAll, beforeAll, expect, test } from 'vitest';

import { createKiln } from '../../clients/typescript/src/index.ts';
import { ExecutionPageDocument } from '../../console/src/api/documents/shop.ts';
import { TaskLogDocument } from '../../console/src/api/documents/tasks.ts';
import { startKiln, type KilnUnderTest } from '../../test/kit/kiln.ts';
import { readTrustedDocuments } from './trusted-documents.ts';

let folder: string;
let kiln: KilnUnderTest;
const manifest = () => path.join(folder, 'manifest.json');

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'kiln-documents-'));
  await writeFile(manifest(), JSON.stringify({ operations: [{ body: '{ health { service } }' }] }));
  const settings = { REST_AUTH: 'compat', ANONYMOUS_DOCUMENT_POINTS: '1', TRUSTED_DOCUMENTS: manifest() };
  kiln = await startKiln({ settings });
});

afterAll(async () => {
  await kiln?.close();
  await rm(folder, { recursive: true, force: true });
});

const client = () =>
  new ApolloClient({ cache: new InMemoryCache(), link: new HttpLink({ uri: `${kiln.url}/graphql` }) });

test('what the console sends is answered without a credential, of any size, and beside TRUSTED_DOCUMENTS', async () => {
  const id = '0199aaaa-0000-7000-8000-000000000000';
  const page = await client().query({ query: ExecutionPageDocument, variables: { taskId: id } });
  expect(page.data).toMatchObject({ execution: null });
  const log = await client().query({ query: TaskLogDocument, variables: { id } });
  expect(log.data).toMatchObject({ task: null });
  const own = createKiln({ url: kiln.url, retries: 0 });
  const { id: started } = await own.generate('image', { generator: 'imga', prompt: 'a boat' });
  expect((await own.cancel(started)).id).toBe(started);
  await expect(own.result(started)).rejects.toMatchObject({ code: 'CANCELLED' });
  expect((await own.upload(new Blob(['words'], { type: 'text/plain' }))).bytes).toBe(5);
});

test('besides, callers without a credential send what TRUSTED_DOCUMENTS names', async () => {
  const ask = async (query: string) => {
    const answer = await fetch(`${kiln.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query }),
    });
    return [answer.status, await answer.json()];
  };
  expect(await ask('{ health { service } }')).toMatchObject([200, { data: { health: {} } }]);
  expect(await ask('{ health { version } }')).toMatchObject([
    400,
    { errors: [{ extensions: { code: 'QUERY_REFUSED', limit: 'trusted-documents' } }] },
  ]);
});

test('a file that is no manifest is refused by its name', async () => {
  await writeFile(path.join(folder, 'other.json'), '[]');
  const read = readTrustedDocuments(path.join(folder, 'other.json'));
  await expect(read).rejects.toThrow(/TRUSTED_DOCUMENTS: .*other\.json must be a manifest/);
});

test('a gateway without a console trusts none of its documents', async () => {
  expect(await readTrustedDocuments(null, false)).toEqual(new Set());
});
