import { createHash } from 'node:crypto';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { graphql, rest } from '../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';

/** Where addresses expire (FILES_URL_TTL), an id that was seen in one opens nothing to strangers: whatever asks for bytes. */

const owner = { authorization: 'Bearer secret-of-the-owner' };
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const DESCRIBE =
  'mutation ($image: MediaInput!) { describeImage(generator: "agg/imga", image: $image) { id } }';
const CHAT =
  'mutation ($messages: JSON!) { chat(input: { generator: "llm", messages: $messages }) { text } }';

let kiln: KilnUnderTest;
let id: string;
let address: string;
beforeAll(async () => {
  const hash = createHash('sha256').update('secret-of-the-owner').digest('hex');
  kiln = await startKiln({
    settings: { REST_AUTH: 'compat', SERVICE_KEYS: `owner=${hash}`, FILES_URL_TTL: '600' },
  });
  const form = new FormData();
  form.set('file', new Blob([PIXEL]), 'x.png');
  const { body } = await rest(kiln.url, 'POST', '/api/file/upload', form, owner);
  address = body.data;
  id = body.extra.key;
});
afterAll(() => kiln.close());

async function newKey(scope: string) {
  const make =
    'mutation ($scopes: [String!]!) { createServiceKey(name: "other", scopes: $scopes) { secret } }';
  const { data } = await graphql(kiln.url, make, { scopes: [scope] }, owner);
  return { authorization: `Bearer ${data.createServiceKey.secret}` };
}

const about = (fileId: string) => [{ role: 'user', content: [{ type: 'media', media: { fileId } }] }];

async function refusal(query: string, variables: object, headers = {}) {
  const { errors } = await graphql(kiln.url, query, { ...variables }, headers);
  return errors?.[0]?.message ?? null;
}

it('refuses the id of somebody else as an input, as if there were no such file', async () => {
  expect(await refusal(DESCRIBE, { image: { fileId: id } })).toContain('does not exist');
  expect(await refusal(CHAT, { messages: about(id) })).toContain('does not exist');
});

it('takes it from the owner, and the signed address from whoever has it', async () => {
  expect(await refusal(DESCRIBE, { image: { fileId: id } }, owner)).toBeNull();
  expect(await refusal(CHAT, { messages: about(id) }, owner)).toBeNull();
  expect(await refusal(DESCRIBE, { image: { url: address } })).toBeNull();
});

it('serves no bytes for the address without its signature', async () => {
  const bare = address.slice(0, address.indexOf('?'));
  expect((await fetch(bare)).status).toBe(403);
  expect((await fetch(address)).status).toBe(200);
});

it('gives a fresh address for it to the owner alone, and an address to be passed on', async () => {
  const FRESH = 'query ($id: ID!) { media(id: $id) { url } }';
  const SHARE = 'mutation ($id: ID!) { shareMedia(id: $id) { id url } }';
  const mine = await graphql(kiln.url, FRESH, { id }, owner);
  expect((await fetch(mine.data.media.url)).status).toBe(200);
  expect((await graphql(kiln.url, FRESH, { id })).data).toEqual({ media: null });
  expect((await graphql(kiln.url, SHARE, { id })).errors?.[0]?.extensions).toMatchObject({
    code: 'NOT_FOUND',
  });
  const { data } = await graphql(kiln.url, SHARE, { id }, owner);
  expect((await fetch(data.shareMedia.url)).status).toBe(200);
  const listed = await graphql(kiln.url, '{ shares { id media { id } } }', {}, owner);
  expect(listed.data.shares).toEqual([{ id: data.shareMedia.id, media: { id } }]);
  await graphql(kiln.url, 'mutation ($id: ID!) { revokeShare(id: $id) { id } }', data.shareMedia, owner);
  expect((await fetch(data.shareMedia.url)).status).toBe(404);
  const { rows } = await kiln.runtime.database.pool.query<{ what: string; target: string }>(
    `select what, target from audit.entries where what in ('shareMedia', 'revokeShare') order by id`,
  );
  expect(rows).toEqual([
    { what: 'shareMedia', target: id },
    { what: 'revokeShare', target: data.shareMedia.id },
  ]);
});

it('gives a key that only reads no address to be passed on, and the owner of a file every one of it', async () => {
  const SHARE = 'query ($id: ID!) { media(id: $id) { shareUrl } }';
  const refused = await graphql(kiln.url, SHARE, { id }, await newKey('read'));
  expect(refused.errors?.[0]?.extensions).toMatchObject({ code: 'FORBIDDEN' });
  const administrator = await newKey('admin');
  const { data } = await graphql(kiln.url, SHARE, { id }, administrator);
  expect((await fetch(data.media.shareUrl)).status).toBe(200);
  const { rows } = await kiln.runtime.database.pool.query<{ caller: string }>(
    `select caller from audit.entries where what = 'shareMedia' and target = $1 order by id desc limit 1`,
    [id],
  );
  const listed = await graphql(
    kiln.url,
    'query ($id: ID!) { shares(mediaId: $id) { id url owner } }',
    { id },
    owner,
  );
  expect(listed.data.shares).toMatchObject([{ owner: rows[0]?.caller }]);
  const [{ id: share }] = listed.data.shares;
  const END = 'mutation ($id: ID!) { revokeShare(id: $id) { id } }';
  expect((await graphql(kiln.url, END, { id: share }, owner)).errors).toBeUndefined();
  expect((await fetch(data.media.shareUrl)).status).toBe(404);
});

const BOARD = '{ id name count cover { id } share { url endsAt } }';

it('puts files of the caller on boards, moves them, and lists what is on one', async () => {
  const make = `mutation ($name: String!) { createBoard(name: $name) ${BOARD} }`;
  const [one, other] = await Promise.all(
    ['Foxes', 'Cranes'].map(
      async (name) => (await graphql(kiln.url, make, { name }, owner)).data.createBoard,
    ),
  );
  expect(one).toEqual({ id: one.id, name: 'Foxes', count: 0, cover: null, share: null });
  const add = `mutation ($id: ID!, $ids: [ID!]!, $from: ID) { addToBoard(id: $id, mediaIds: $ids, from: $from) ${BOARD} }`;
  const added = await graphql(kiln.url, add, { id: one.id, ids: [id, id] }, owner);
  expect(added.data.addToBoard).toMatchObject({ count: 1, cover: { id } });
  const moved = await graphql(kiln.url, add, { id: other.id, ids: [id], from: one.id }, owner);
  expect(moved.data.addToBoard.count).toBe(1);
  const again = { id: other.id, ids: [id.toUpperCase()], from: other.id.toUpperCase() };
  expect((await graphql(kiln.url, add, again, owner)).data.addToBoard.count).toBe(1);
  const list =
    'query ($board: ID) { medias(filter: { board: $board }) { totalCount edges { node { id } } } }';
  const counts = [one, other, { id: 'none' }].map(
    async (board) => (await graphql(kiln.url, list, { board: board.id }, owner)).data.medias.totalCount,
  );
  expect(await Promise.all(counts)).toEqual([0, 1, 0]);
  expect(await refusal(make, { name: 'Mine' })).toContain('sign in');
  expect(await refusal(make, { name: ' ' }, owner)).toContain('1 to 100');
});

it('keeps boards from everybody else, and says what each takes', async () => {
  const headers = await newKey('manage');
  const [{ id: board }] = (await graphql(kiln.url, '{ boards { id } }', {}, owner)).data.boards;
  const verbs = [
    'renameBoard(id: $id, name: "Mine")',
    'deleteBoard(id: $id)',
    'addToBoard(id: $id, mediaIds: [])',
    'removeFromBoard(id: $id, mediaIds: [])',
    'shareBoard(id: $id, seconds: 60)',
    'unshareBoard(id: $id)',
  ];
  const asked = verbs.flatMap((verb) =>
    [board, 'none'].map(async (of) =>
      graphql(kiln.url, `mutation ($id: ID!) { ${verb} { id } }`, { id: of }, headers),
    ),
  );
  const codes = (await Promise.all(asked)).map(({ errors }) => errors?.[0]?.extensions?.['code']);
  expect(codes).toEqual(codes.map(() => 'NOT_FOUND'));
  const add = 'mutation ($id: ID!, $ids: [ID!]!) { addToBoard(id: $id, mediaIds: $ids) { id } }';
  expect(await refusal(add, { id: board, ids: ['none'] }, owner)).toContain('the id of a Media');
  expect(await refusal(add, { id: board, ids: Array(501).fill(id) }, owner)).toContain('at most 500');
  const share = 'mutation ($id: ID!) { shareBoard(id: $id, seconds: 59) { id } }';
  expect(await refusal(share, { id: board }, owner)).toContain('from 60');
});

it('lists files by when they were stored', async () => {
  const list =
    'query ($after: DateTime, $before: DateTime) { medias(filter: { createdAfter: $after, createdBefore: $before }) { totalCount } }';
  const read = '{ media(id: "ID") { createdAt } }'.replace('ID', id);
  const { createdAt } = (await graphql(kiln.url, read, {}, owner)).data.media;
  const moved = (ms: number) => new Date(Date.parse(createdAt) + ms).toISOString();
  const count = async (between: object) =>
    (await graphql(kiln.url, list, { ...between }, owner)).data.medias.totalCount;
  expect(await count({ after: moved(-1), before: moved(1) })).toBe(1);
  expect(await count({ after: moved(1) })).toBe(0);
  expect(await count({ before: moved(-1) })).toBe(0);
});

it('finds a file by its BLAKE3 for its owner alone, and nobody’s for nobody', async () => {
  const query = 'mutation ($file: Upload!) { uploadFile(file: $file, blake3: true) { id blake3 } }';
  const uploadAs = async (who: Record<string, string>) => {
    const form = new FormData();
    form.set('operations', JSON.stringify({ query, variables: { file: null } }));
    form.set('map', '{"0":["variables.file"]}');
    form.set('0', new Blob([PIXEL], { type: 'image/png' }), 'y.png');
    const headers = { ...who, 'apollo-require-preflight': 'true' };
    const answer = await fetch(`${kiln.url}/graphql`, { method: 'POST', headers, body: form });
    const { data } = (await answer.json()) as { data: { uploadFile: { id: string; blake3: string } } };
    return data.uploadFile;
  };
  const [mine, nobodys] = [await uploadAs(owner), await uploadAs({})];
  expect(nobodys.blake3).toBe(mine.blake3);
  const find = 'query ($blake3: String!) { mediaByBlake3(blake3: $blake3) { id } }';
  const findAs = async (who: Record<string, string>) =>
    (await graphql(kiln.url, find, { blake3: mine.blake3.toUpperCase() }, who)).data.mediaByBlake3;
  expect(await findAs(owner)).toEqual({ id: mine.id });
  expect([await findAs({}), await findAs(await newKey('admin'))]).toEqual([null, null]);
});

it('stars files of the caller alone', async () => {
  const star = 'mutation ($ids: [ID!]!, $on: Boolean!) { starMedia(ids: $ids, starred: $on) }';
  const list = '{ medias(filter: { starred: true }) { edges { node { id starred } } } }';
  expect((await graphql(kiln.url, star, { ids: [id], on: true }, owner)).data.starMedia).toEqual([id]);
  const starred = await graphql(kiln.url, list, {}, owner);
  expect(starred.data.medias.edges).toEqual([{ node: { id, starred: true } }]);
  await graphql(kiln.url, star, { ids: [id], on: false }, owner);
  expect((await graphql(kiln.url, list, {}, owner)).data.medias.edges).toEqual([]);
  expect(await refusal(star, { ids: [id], on: true })).toContain('sign in');
});

it('passes a board on by an address that ends, and tells no id of what is on it', async () => {
  const { data } = await graphql(kiln.url, `{ boards ${BOARD} }`, {}, owner);
  const board = data.boards.find(({ name }: { name: string }) => name === 'Cranes');
  const share = `mutation ($id: ID!) { shareBoard(id: $id, seconds: 3600) ${BOARD} }`;
  const open =
    'query ($token: String!) { sharedBoard(token: $token) { name files { url contentType width } } }';
  const openAt = async (address: string) =>
    (await graphql(kiln.url, open, { token: new URL(address).pathname.split('/').at(-1) })).data.sharedBoard;
  const first = (await graphql(kiln.url, share, { id: board.id }, owner)).data.shareBoard.share.url;
  const seen = await openAt(first);
  expect(seen).toMatchObject({ name: 'Cranes', files: [{ contentType: 'image/png', width: 1 }] });
  const [{ url }] = seen.files;
  expect([url.includes(id), (await fetch(url)).status]).toEqual([false, 200]);
  const second = (await graphql(kiln.url, share, { id: board.id }, owner)).data.shareBoard.share.url;
  expect(await openAt(first)).toBeNull();
  await graphql(kiln.url, 'mutation ($id: ID!) { unshareBoard(id: $id) { id } }', { id: board.id }, owner);
  expect(await openAt(second)).toBeNull();
  expect(await openAt(`${kiln.url}/console/shared/none`)).toBeNull();
});
