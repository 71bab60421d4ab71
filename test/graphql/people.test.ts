import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';
import { graphqlClient } from './graphql-client.ts';

/** Characters, lip-sync and refusals of work with people in it, over a live server's GraphQL face. */

let kiln: KilnUnderTest;
let asking: ReturnType<typeof graphqlClient>;
beforeAll(async () => {
  kiln = await startKiln({ isQuick: true });
  asking = graphqlClient(kiln.url);
});
afterAll(() => kiln.close());

const PIXEL = Uint8Array.from(
  Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
    'base64',
  ),
);

async function uploaded(): Promise<string> {
  const query =
    'mutation ($file: Upload!) { uploadLipSyncResource(generator: "agg/lipsync", file: $file) { id media { contentType } } }';
  const { data, errors } = await asking.upload(PIXEL, 'a.png', query);
  expect(errors).toBeUndefined();
  expect(data.uploadLipSyncResource.media.contentType).toBe('image/png');
  return data.uploadLipSyncResource.id as string;
}

describe('a character', () => {
  it('is learned from images, and its result names it for the images of it', async () => {
    const input = { name: 'Ada', images: [{ fileId: await uploaded() }] };
    const query =
      'mutation ($input: CharacterInput!) { createCharacter(input: $input) { id kind generator } }';
    const { createCharacter } = await asking.ok(query, { input });
    expect(createCharacter).toMatchObject({ kind: 'CHARACTER', generator: 'custom/charv' });
    const { error } = await asking.ended(createCharacter.id as string);
    expect(error).toBeNull();
    const read = 'query ($id: ID!) { task(id: $id) { result { ... on Character { characterId } } } }';
    const { task } = await asking.ok(read, { id: createCharacter.id as string });
    expect(task.result).toEqual({ characterId: expect.stringMatching(/./) });
  });
});

describe('lip-sync', () => {
  it('says a text with an uploaded face', async () => {
    const input = { generator: 'agg/lipsync', image: { fileId: await uploaded() }, text: 'Hello.' };
    const query = 'mutation ($input: LipSyncInput!) { lipSync(input: $input) { id } }';
    const { lipSync } = await asking.ok(query, { input });
    expect(await asking.ended(lipSync.id as string)).toMatchObject({
      error: null,
      kind: 'LIP_SYNC',
      outputs: [{ contentType: 'video/mp4' }],
    });
  });
});

describe('an image with somebody in it, perhaps', () => {
  it('is looked at: what is not known is null, with the reason', async () => {
    const mutation = 'mutation ($file: Upload!) { detectPerson(image: { upload: $file }) { id generator } }';
    const { data } = await asking.upload(PIXEL, 'a.png', mutation);
    expect(data.detectPerson.generator).toBe('cloud/humanvid');
    const { id } = data.detectPerson as { id: string };
    expect(await asking.ended(id)).toMatchObject({ error: null, sandbox: true, outputs: [] });
    const read =
      'query ($id: ID!) { task(id: $id) { result { ... on PersonDetection { hasPerson reason subjects } } } }';
    const { task } = await asking.ok(read, { id });
    expect(task.result).toEqual({ hasPerson: null, reason: expect.stringMatching(/./), subjects: [] });
  });
});

const refusals: readonly (readonly [operation: string, field: string])[] = [
  ['lipSync(input: { generator: "agg/lipsync", text: "a" })', 'image'],
  ['lipSync(input: { generator: "agg/lipsync", image: { url: "https://a.b/c" } })', 'audio'],
  ['createCharacter(input: { name: "a", images: [] })', 'images'],
  ['createCharacter(input: { name: " ", images: [{ url: "https://a.b/c" }] })', 'name'],
  ['generateCharacterImage(input: { prompt: " " })', 'prompt'],
  ['generateAvatarVideo(input: { digitalId: "d" })', 'audio'],
  ['createAvatar(input: { videoId: "" })', 'videoId'],
  [
    'generateFrameVideo(input: { generator: "custom/frame", firstFrame: { url: "https://a.b/c" } })',
    'lastFrame',
  ],
];

it.each(refusals)('%s is refused, naming %s', async (operation, field) => {
  expect(await asking.refusal(`mutation { ${operation} { id } }`)).toMatchObject({
    code: 'BAD_USER_INPUT',
    field,
  });
});
