import { Readable } from 'node:stream';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { newId } from '../../../platform/ids.ts';
import { migratedDatabase } from '../../../test/kit/database/migrated.ts';
import type { UploadedFile } from '../providers/contract/provider.ts';
import { fileWorld, type FileWorld } from './files.fixture.ts';
import {
  createProviderResources,
  type ProviderAccount,
  type ProviderResources,
} from './provider-resources.ts';

let world: FileWorld;
let resources: ProviderResources;

beforeAll(async () => {
  world = await fileWorld(await migratedDatabase());
  resources = createProviderResources(world.database);
});

afterAll(() => world.close());

const gemini = account('gemini', 'key-of-one');

function account(name: string, key: string): ProviderAccount {
  return {
    provider: { name },
    connection: { baseUrl: 'https://ai.example', pathPrefix: '', headers: { key }, credentials: {} },
  };
}

function uploaded(change: Partial<UploadedFile> = {}): UploadedFile {
  return { id: 'files/1', uri: null, expiresAt: null, answer: { name: 'files/1' }, ...change };
}

async function newMedia(): Promise<string> {
  const file = await world.service().store({
    owner: 'usr_1',
    body: Readable.from([Buffer.from('a sample')]),
    name: 'sample.txt',
    declaredType: 'text/plain',
    temporary: false,
    maxBytes: 1_000,
  });
  return file.id;
}

function inSeconds(seconds: number): Date {
  return new Date(Date.now() + seconds * 1000);
}

test('a resource is found by file and account, and by its URI', async () => {
  const mediaId = await newMedia();
  const uri = `https://ai.example/${newId()}`;
  const file = uploaded({ uri, answer: { text: 'half \ud800 and \0' }, expiresAt: inSeconds(3_600) });
  const saved = await resources.save({ mediaId, owner: 'usr_1', account: gemini, uploaded: file });
  expect(saved).toMatchObject({ mediaId, owner: 'usr_1', provider: 'gemini', resourceId: 'files/1', uri });
  expect(await resources.ofMedia([newId(), mediaId], gemini)).toEqual([null, saved]);
  expect(await resources.byUri(uri)).toEqual(saved);
  expect(await resources.byUri('https://ai.example/other')).toBeNull();
});

test('another provider or another key of the same one does not have it', async () => {
  const mediaId = await newMedia();
  await resources.save({ mediaId, owner: 'usr_1', account: gemini, uploaded: uploaded() });
  expect(await resources.ofMedia([mediaId], account('minimax', 'key-of-one'))).toEqual([null]);
  expect(await resources.ofMedia([mediaId], account('gemini', 'key-of-another'))).toEqual([null]);
});

test('what expires soon counts as gone, but its URI still names our file', async () => {
  const mediaId = await newMedia();
  const uri = `https://ai.example/${newId()}`;
  const soon = uploaded({ uri, expiresAt: inSeconds(60) });
  await resources.save({ mediaId, owner: 'usr_1', account: gemini, uploaded: soon });
  expect(await resources.ofMedia([mediaId], gemini)).toEqual([null]);
  expect(await resources.byUri(uri)).toMatchObject({ mediaId });
  const fresh = uploaded({ id: 'files/2', expiresAt: inSeconds(3_600) });
  await resources.save({ mediaId, owner: 'usr_1', account: gemini, uploaded: fresh });
  expect(await resources.ofMedia([mediaId], gemini)).toMatchObject([{ resourceId: 'files/2' }]);
});

test('long expired ones are pruned, and all of a file with the file', async () => {
  const [old, kept] = [await newMedia(), await newMedia()];
  const past = {
    owner: 'usr_1',
    account: gemini,
    uploaded: uploaded({ expiresAt: inSeconds(-40 * 86_400) }),
  };
  await resources.save({ ...past, mediaId: old });
  await resources.save({ mediaId: kept, owner: 'usr_1', account: gemini, uploaded: uploaded() });
  expect(await resources.prune(10)).toBe(1);
  expect(await resources.prune(10)).toBe(0);
  expect(await resources.ofMedia([kept], gemini)).toMatchObject([{ mediaId: kept }]);
  await world.service().remove({ kind: 'user', id: 'usr_1', scopes: [], traceId: 't', address: null }, kept);
  expect(await resources.ofMedia([kept], gemini)).toEqual([null]);
});
