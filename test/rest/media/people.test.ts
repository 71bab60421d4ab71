import { afterAll, beforeAll, expect, it } from 'vitest';

import { postForm, rest, taskEnd, type RestAnswer } from '../../kit/clients/requests.ts';
import type { KilnUnderTest } from '../../kit/kiln.ts';
import { downloadWav, openFirst, readImage, startWithSamples } from './sample-media.ts';

/** Lip-sync, the custom groups and their special models over a live server: what comes back is real media. */

let kiln: KilnUnderTest;
/** Addresses of an image and of a recording of ours. */
let imageUrl = '';
let recording = '';

beforeAll(async () => {
  ({ kiln, imageUrl, recording } = await startWithSamples());
});
afterAll(() => kiln.close());

type Fields = Readonly<Record<string, string | Blob | readonly string[]>>;

const post = (path: string, fields?: Fields) => postForm(kiln.url, path, fields);
const get = (path: string): Promise<RestAnswer> => rest(kiln.url, 'GET', path);

/** Waits for the end of a submission, and reads it at a status path (GET unless told otherwise). */
async function followed(submitted: RestAnswer, status: string, method = 'GET'): Promise<RestAnswer> {
  expect(submitted.body).toMatchObject({ status: true, data: expect.any(String) });
  await taskEnd(kiln.url, submitted.body.data, 60_000);
  const mark = status.includes('?') ? '&' : '?';
  return rest(kiln.url, method, `${status}${mark}task_id=${submitted.body.data}`);
}

const type = (kind: string): unknown => expect.stringMatching(new RegExp(`^${kind}/`));
const image = { isWhole: true, content_type: type('image'), width: expect.any(Number), duration: null };
const video = { isWhole: true, content_type: type('video'), duration: expect.any(Number) };
const refused = { status: false, data: null };

it.concurrent.each([
  ['v3', '/api/agg/lipsync/v3/file/upload'],
  ['v2', '/api/agg/lipsync/v2/upload'],
])('lip-sync %s takes uploaded resources, files, links and texts', async (version, upload) => {
  const resources = await Promise.all([
    post(upload, { file: await readImage() }),
    post(upload, { file: await downloadWav(recording) }),
  ]);
  for (const { body } of resources) {
    expect(body).toMatchObject({
      status: true,
      data: expect.any(String),
      extra: { sha256: expect.any(String) },
    });
  }
  const [img_id = '', audio_id = ''] = resources.map(({ body }) => body.data as string);
  const inputs: Fields[] = [
    { img_id, audio_id, prompt: 'smiling' },
    { img_file: await readImage(), audio_file: await downloadWav(recording) },
    { img_url: imageUrl, audio_url: recording },
    { img_id, text: 'Good evening to you all.' },
  ];
  const submit = `/api/agg/lipsync/${version}/submit/task`;
  const ends = await Promise.all(
    inputs.map(async (fields) =>
      followed(await post(submit, fields), `/api/agg/lipsync/${version}/task/status`),
    ),
  );
  for (const end of ends) expect(await openFirst(end)).toMatchObject(video);
  expect(ends[0]?.headers.has('deprecation')).toBe(version === 'v2');
});

it.concurrent('lip-sync says what is missing, and v2 what it does not take', async () => {
  const nothing = await post('/api/agg/lipsync/v3/submit/task', { img_url: imageUrl });
  expect(nothing).toMatchObject({ status: 200, body: refused });
  expect(nothing.body.msg).toContain('audio_id');
  const empty = await rest(kiln.url, 'POST', '/api/agg/lipsync/v3/submit/task');
  expect(empty.status).toBe(422);
  // An image by its name, something else by what it is.
  const page = new File(['<!doctype html><p>no image</p>'], 'a.png', { type: 'image/png' });
  const old = await post('/api/agg/lipsync/v2/upload', { file: page });
  expect(old).toMatchObject({ status: 200, body: refused });
});

it.concurrent('the custom group lists its models by category and makes what they make', async () => {
  const [images, videos, other] = await Promise.all(
    ['', '?category=video', '?category=speech'].map((query) => get(`/api/custom/model/list${query}`)),
  );
  const categories = ({ body }: RestAnswer) =>
    new Set(body.data.map((model: { category: string }) => model.category));
  expect([images, videos].map((list) => list && categories(list))).toEqual([
    new Set(['image']),
    new Set(['video']),
  ]);
  expect(other?.status).toBe(422);
  const [made, filmed] = await Promise.all([
    post('/api/custom/image/submit/task', { prompt: 'a boat', ar: '1:1' }),
    post('/api/custom/video/submit/task', { prompt: 'waves', img_url: imageUrl }),
  ]);
  expect(await openFirst(await followed(made, '/api/custom/task/status'))).toMatchObject(image);
  expect(await openFirst(await followed(filmed, '/api/custom/task/status'))).toMatchObject(video);
});

it.concurrent('the special models are listed: those of characters and those of frames', async () => {
  const { body } = await get('/api/custom/extend/model/list');
  const generators = new Set(body.data.map((model: { generator: string }) => model.generator));
  expect(generators).toEqual(new Set(['custom/charv', 'custom/frame']));
});

it.concurrent('a character is learned from links in any of the three ways, and then drawn', async () => {
  const create = '/api/custom/extend/charv/create/character';
  const status = '/api/custom/extend/charv/character/status';
  const ways = [[imageUrl, imageUrl], `${imageUrl},${imageUrl}`, `${imageUrl}\n${imageUrl}`];
  const ends = await Promise.all(
    ways.map(async (img_urls) => followed(await post(create, { name: 'Ada', img_urls }), status, 'POST')),
  );
  for (const { body } of ends) {
    expect(body).toMatchObject({
      status: true,
      data: { task_id: expect.any(String), character_id: expect.any(String) },
    });
  }
  const character_id = ends[0]?.body.data.character_id as string;
  const drawn = await post('/api/custom/extend/charv/submit/task', { prompt: 'at the sea', character_id });
  expect(await openFirst(await followed(drawn, '/api/custom/extend/charv/task/status'))).toMatchObject(image);
  // The other path of the group is another path.
  const elsewhere = await rest(kiln.url, 'POST', `${status}?task_id=${drawn.body.data}`);
  expect(elsewhere).toMatchObject({ status: 200, body: refused });
  expect(elsewhere.body.msg).toContain('/api/task/status/');
});

it.concurrent('a video goes from a first frame to a last one', async () => {
  const frames = { first_img_url: imageUrl, last_img_url: imageUrl };
  const submitted = await post('/api/custom/extend/frame/submit/task', { ...frames, prompt: 'waves' });
  expect(await openFirst(await followed(submitted, '/api/custom/extend/frame/task/status'))).toMatchObject(
    video,
  );
  const lacking = await post('/api/custom/extend/frame/submit/task', { first_img_url: imageUrl });
  expect(lacking.status).toBe(422);
  expect(lacking.body.detail).toMatchObject([{ loc: ['body', 'last_img_url'], type: 'missing' }]);
});
