import { Readable } from 'node:stream';

import type { FileUpload } from 'graphql-upload-minimal';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { anonymousCaller, type Caller } from '../../../platform/access/caller.ts';
import type { AuthMode } from '../../../platform/access/policy.ts';
import { migratedDatabase } from '../../../test/kit/database/migrated.ts';
import { UpstreamError } from '../domain/failure.ts';
import { fileWorld, type FileWorld } from '../files/files.fixture.ts';
import { createProviderResources, type ProviderResources } from '../files/provider-resources.ts';
import type { Binding, GeneratorRegistry } from '../generators/bindings/binding.ts';
import { createGeneratorRegistry } from '../generators/bindings/registry.ts';
import type { NodeLoad, Provider, UploadRequest, VoiceList } from '../providers/contract/provider.ts';
import { testBinding } from '../tasks/testing/provider.ts';
import { unbounded } from '../uploads/quotas.ts';
import { runningNode } from './nodes.ts';
import { checkPrompt } from './prompt-check.ts';
import { createUploads } from './uploads.ts';
import { createVoices } from './voices.ts';

const me: Caller = { kind: 'user', id: 'usr_me', scopes: [], traceId: 'test', address: null };
const here = () => new AbortController().signal;

function createTestBinding(id: string, provider: Partial<Provider>): Binding {
  return testBinding(id, { name: 'test', ...provider }, 'http://127.0.0.1:1');
}

function createRegistry(...bindings: Binding[]): GeneratorRegistry {
  return createGeneratorRegistry({ bindings, missing: { absent: 'ABSENT_API_KEY' } });
}

describe('voices', () => {
  const list: VoiceList = {
    voices: [{ id: 'v1', name: 'One', language: 'en', cloned: true }],
    answer: { all: 1 },
  };

  const admin: Caller = { ...me, id: 'usr_admin', scopes: ['admin'] };
  const madeBy = (...owners: string[]) => ({ ofVoices: async () => new Map([['v1', new Set(owners)]]) });
  const createTestVoices = (
    registry: GeneratorRegistry,
    owners = madeBy('usr_me'),
    authMode: AuthMode = 'compat',
  ) => createVoices({ registry, owners, authMode });

  it.each<[string, Caller, string[], AuthMode, boolean]>([
    ['its maker', me, ['usr_me'], 'compat', true],
    ['another user', me, ['usr_other'], 'open', false],
    ['another user than nobody', me, ['anon'], 'compat', false],
    ['an anonymous caller', anonymousCaller('t', null), ['anon'], 'compat', false],
    ['an anonymous caller in open mode', anonymousCaller('t', null), ['anon'], 'open', true],
    ['an administrator', admin, ['usr_other'], 'required', true],
  ])('that were cloned are listed for %s or not', async (_, caller, owners, mode, isListed) => {
    const own = { id: 'public', name: 'Public', language: 'en', cloned: false };
    const all = { ...list, voices: [own, ...list.voices] };
    const voices = createTestVoices(
      createRegistry(createTestBinding('speech#0', { voices: async () => all })),
      madeBy(...owners),
      mode,
    );
    expect(await voices.list(caller, 'speech')).toEqual(isListed ? all.voices : [own]);
    expect(await voices.answer(caller, 'speech')).toEqual(caller === admin ? all.answer : {});
  });

  it('are asked for once by many, and kept with what the provider said', async () => {
    let asked = 0;
    const voices = createTestVoices(
      createRegistry(createTestBinding('speech#0', { voices: async () => ((asked += 1), list) })),
    );
    const lists = await Promise.all([
      voices.list(admin, 'speech'),
      voices.list(admin, 'speech'),
      voices.list(admin, 'speech'),
    ]);
    expect(lists).toEqual([list.voices, list.voices, list.voices]);
    expect(await voices.answer(admin, 'speech')).toEqual({ all: 1 });
    expect(asked).toBe(1);
  });

  it('are asked of the next binding when one does not answer, and no failure is kept', async () => {
    let isDown = true;
    const down = async () => {
      if (!isDown) return list;
      throw new UpstreamError('UNAVAILABLE', 'it sleeps', { retryable: true });
    };
    const one = createTestVoices(
      createRegistry(
        createTestBinding('speech#0', { voices: down }),
        createTestBinding('speech#1', { voices: async () => list }),
      ),
    );
    expect(await one.list(admin, 'speech')).toEqual(list.voices);
    const alone = createTestVoices(createRegistry(createTestBinding('speech#0', { voices: down })));
    await expect(alone.list(admin, 'speech')).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: 'it sleeps',
    });
    isDown = false;
    expect(await alone.list(admin, 'speech')).toEqual(list.voices);
  });

  it('are refused of generators that have none, naming those that have', async () => {
    const voices = createTestVoices(
      createRegistry(
        createTestBinding('speech#0', { voices: async () => list }),
        createTestBinding('mute#0', {}),
      ),
    );
    const refused = { code: 'BAD_USER_INPUT', field: 'generator' };
    await expect(voices.list(admin, 'mute')).rejects.toMatchObject({
      ...refused,
      message: /has no voices.*speech/,
    });
    await expect(voices.list(admin, 'nobody')).rejects.toMatchObject(refused);
    await expect(voices.list(admin, 'absent')).rejects.toMatchObject({
      code: 'NOT_CONFIGURED',
      message: /is not available here/,
    });
  });
});

describe('the running node', () => {
  const load = (node: string, running: number, pending: number): NodeLoad => ({
    node,
    running,
    pending,
    capacity: 4,
  });
  const registry = (nodes: readonly NodeLoad[]) =>
    createRegistry(createTestBinding('comfy#0', { nodes: async () => nodes }));

  it('is the least busy with room for that many tasks', async () => {
    const nodes = registry([load('a', 1, 1), load('b', 1, 0), load('c', 4, 9)]);
    expect(await runningNode(nodes, 1)).toMatchObject({ node: 'b' });
    expect(await runningNode(nodes, 3)).toMatchObject({ node: 'b' });
    expect(await runningNode(nodes, 0)).toMatchObject({ node: 'b' });
    expect(await runningNode(nodes, 4)).toBeNull();
    expect(await runningNode(registry([]), 1)).toBeNull();
  });
});

describe('the check of a prompt', () => {
  const model = { maxPrompt: 20 } as ReturnType<GeneratorRegistry['models']>[number];
  const registry: GeneratorRegistry = {
    ...createRegistry(createTestBinding('imga#0', {})),
    models: () => [model],
  };

  it.each([
    ['a quiet lake', []],
    ['Gorey', []],
    ['a lake --gore 1', []],
    ['', [/empty/]],
    ['GORE, nsfw', [/"gore"/, /"nsfw"/]],
    ['a very very very quiet lake', [/27 characters.*20/]],
  ])('of %j says what speaks against it', (prompt, reasons) => {
    expect(checkPrompt(registry, 'imga', prompt)).toEqual({
      allowed: reasons.length === 0,
      reasons: reasons.map((reason) => expect.stringMatching(reason) as string),
    });
  });

  it('knows which generators there are', () => {
    expect(() => checkPrompt(registry, 'nobody', 'x')).toThrow(
      expect.objectContaining({ field: 'generator' }),
    );
  });
});

describe('an upload to a provider', () => {
  let world: FileWorld;
  let resources: ProviderResources;
  beforeAll(async () => {
    world = await fileWorld(await migratedDatabase());
    resources = createProviderResources(world.database);
  });
  afterAll(() => world.close());

  const heard: { request: UploadRequest; bytes: string }[] = [];
  const provider: Partial<Provider> = {
    upload: async (request) => {
      const bytes = Buffer.concat(await (await request.file.open()).toArray()).toString('latin1');
      heard.push({ request, bytes });
      return { id: 'files/1', uri: 'gs://bucket/1', expiresAt: null, answer: { name: 'files/1' } };
    },
  };
  const uploads = (registry: GeneratorRegistry) =>
    createUploads({
      database: world.database,
      files: world.service(),
      resources,
      registry,
      uploadMaxBytes: 1_000,
      quotas: { reserve: async () => unbounded },
    });
  const wav = Buffer.from(
    '524946462400000057415645666d74201000000001000100401f0000401f0000010008006461746100000000',
    'hex',
  );
  const sent = async (bytes: Buffer, name: string): Promise<FileUpload> =>
    ({
      filename: name,
      mimetype: 'audio/wav',
      createReadStream: () => Readable.from([bytes]),
    }) as unknown as FileUpload;

  it('keeps our own copy for good, and notes what the provider calls it', async () => {
    const binding = createTestBinding('speech#0', provider);
    const request = { generator: 'speech', file: sent(wav, 'a.wav'), purpose: 'voice-sample' as const };
    const { media, uri, answer } = await uploads(createRegistry(binding)).upload(me, request, here());
    expect({ uri, answer, owner: media.owner }).toEqual({
      uri: 'gs://bucket/1',
      answer: { name: 'files/1' },
      owner: me.id,
    });
    expect(heard).toMatchObject([
      {
        request: { purpose: 'voice-sample', file: { name: 'a.wav', contentType: 'audio/wav' } },
        bytes: wav.toString('latin1'),
      },
    ]);
    expect(await resources.ofMedia([media.id], binding)).toMatchObject([{ resourceId: 'files/1' }]);
    expect(await resources.byUri('gs://bucket/1')).toMatchObject({ mediaId: media.id });
    const row = await world.database
      .selectFrom('media.media')
      .select('temporaryUntil')
      .where('id', '=', media.id)
      .executeTakeFirst();
    expect(row?.temporaryUntil).toBeNull();
  });

  it('is refused for files of another kind before the provider learns of them', async () => {
    heard.length = 0;
    const request = {
      generator: 'speech',
      file: sent(Buffer.from('words'), 'a.txt'),
      purpose: 'voice-sample' as const,
    };
    const refused = { code: 'BAD_USER_INPUT', field: 'file', message: /must be a recording/ };
    await expect(
      uploads(createRegistry(createTestBinding('speech#0', provider))).upload(me, request, here()),
    ).rejects.toMatchObject(refused);
    const key = { ...me, kind: 'key' as const, generators: ['mute'] };
    await expect(
      uploads(createRegistry(createTestBinding('speech#0', provider))).upload(key, request, here()),
    ).rejects.toMatchObject({ code: 'FORBIDDEN', field: 'generator' });
    const other = { ...request, generator: 'mute' };
    await expect(
      uploads(createRegistry(createTestBinding('mute#0', {}))).upload(me, other, here()),
    ).rejects.toMatchObject({ field: 'generator' });
    expect(heard).toEqual([]);
  });

  it('leaves only a temporary file when the provider refuses it', async () => {
    const refusing = createTestBinding('speech#0', {
      upload: async () => {
        throw new UpstreamError('INVALID_INPUT', 'too short', { retryable: false, field: 'file' });
      },
    });
    const request = { generator: 'speech', file: sent(wav, 'short.wav'), purpose: 'analysis' as const };
    await expect(uploads(createRegistry(refusing)).upload(me, request, here())).rejects.toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'file',
      message: 'too short',
    });
    const rows = await world.database
      .selectFrom('media.media')
      .select('temporaryUntil')
      .where('name', '=', 'short.wav')
      .execute();
    expect(rows.map((row) => row.temporaryUntil !== null)).toEqual([true]);
  });
});
