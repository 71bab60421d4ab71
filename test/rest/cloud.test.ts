import { readFile } from 'node:fs/promises';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';
import { rest, type RestAnswer } from '../kit/requests.ts';

/** Human videos and avatars over REST: what is refused before anybody is asked, in the caller's own words. */

let kiln: KilnUnderTest;
beforeAll(async () => {
  kiln = await startKiln();
}, 120_000);
afterAll(() => kiln.close());

function post(path: string, fields: Readonly<Record<string, string | Blob>> = {}): Promise<RestAnswer> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  return rest(kiln.url, 'POST', path, form);
}

const refused = (words: string) => ({
  status: 200,
  body: { status: false, data: null, msg: expect.stringContaining(words) },
});

it.concurrent.each([
  ['/api/cloud/humanvid/img/recognition', {}, 'img_file or img_url'],
  ['/api/cloud/humanvid/video/submit/task', {}, 'img_input'],
  ['/api/cloud/humanvid/video/submit/task', { img_input: 'https://example.org/a.png' }, 'audio_input'],
  ['/api/cloud/digital/url2vid', {}, 'video_url or video_file'],
  ['/api/cloud/digital/video/submit/task', {}, 'digital_id'],
  ['/api/cloud/digital/video/submit/task', { digital_id: 'd' }, 'audio_file or audio_url or text'],
])('POST %s with %o says what to send', async (path, fields, words) => {
  expect(await post(path, fields)).toMatchObject(refused(words));
});

it.concurrent.each([
  '/api/cloud/humanvid/img/recognition',
  '/api/cloud/humanvid/video/submit/task',
  '/api/cloud/digital/url2vid',
  '/api/cloud/digital/video/submit/task',
])('POST %s without a body is an application failure', async (path) => {
  expect(await rest(kiln.url, 'POST', path)).toMatchObject(refused('send'));
});

it.concurrent('the video of an avatar is MP4 by what it is, whatever its name says', async () => {
  const bytes = await readFile(new URL('../../docs/explorer.png', import.meta.url));
  const video_file = new File([Uint8Array.from(bytes)], 'me.mp4', { type: 'video/mp4' });
  expect(await post('/api/cloud/digital/url2vid', { video_file })).toMatchObject(
    refused('wrong file format'),
  );
  const stored = await post('/api/file/upload', { file: video_file });
  const video_url = stored.body.data as string;
  expect(await post('/api/cloud/digital/url2vid', { video_url })).toMatchObject(refused('image/png'));
});

it.concurrent('hints at the kind of task: an unknown one is noted or refused, as documented', async () => {
  const id = '0199aaaa-0000-7000-8000-000000000000';
  const human = await rest(kiln.url, 'GET', `/api/cloud/humanvid/task/status?task_id=${id}&task_type=other`);
  expect(human).toMatchObject(refused(id));
  const avatar = await rest(kiln.url, 'GET', `/api/cloud/digital/task/status?task_id=${id}&task_type=other`);
  expect(avatar.status).toBe(422);
  expect(avatar.body.detail).toMatchObject([{ loc: ['query', 'task_type'], type: 'literal_error' }]);
});
