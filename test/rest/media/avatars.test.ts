import { readFile } from 'node:fs/promises';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { postForm, rest, taskEnd, type RestAnswer } from '../../kit/clients/requests.ts';
import type { KilnUnderTest } from '../../kit/kiln.ts';
import { downloadWav, readImage, startWithSamples } from './sample-media.ts';

/**
 * Human videos and avatars over REST: real media of a live server, and what is refused before anybody is asked, in the
 * caller's own words.
 */

let kiln: KilnUnderTest;
/** Addresses of an image and of a recording of ours. */
let imageUrl = '';
let recording = '';
beforeAll(async () => {
  ({ kiln, imageUrl, recording } = await startWithSamples());
});
afterAll(() => kiln.close());

const post = (path: string, fields?: Readonly<Record<string, string | Blob>>) =>
  postForm(kiln.url, path, fields);

async function mp4(): Promise<File> {
  const bytes = await readFile(new URL('../../../sandbox/studio/instant/clip.mp4', import.meta.url));
  return new File([Uint8Array.from(bytes)], 'me.mp4', { type: 'video/mp4' });
}

const HUMAN = '/api/cloud/humanvid/task/status?task_type=video_generate';
const DIGITAL = '/api/cloud/digital/task/status?task_type=video_generate';

/** Waits for the end of a submission, and reads it at a status path. */
async function followed(submitted: RestAnswer, status: string): Promise<RestAnswer> {
  expect(submitted.body).toMatchObject({ status: true, data: expect.any(String) });
  await taskEnd(kiln.url, submitted.body.data, 60_000);
  return rest(kiln.url, 'GET', `${status}&task_id=${submitted.body.data}`);
}

/** The only output's facts, once its address was opened and gave that many bytes. */
async function opened({ body }: RestAnswer): Promise<object> {
  if (body.status !== true) throw new Error(JSON.stringify(body));
  const bytes = new Uint8Array(await (await fetch(body.data.url)).arrayBuffer());
  const isMp4 = Buffer.from(bytes.subarray(4, 8)).toString() === 'ftyp';
  const [media, ...others] = body.data.media;
  return { ...media, isMp4, isWhole: bytes.length === media.bytes, others };
}

const film = {
  content_type: 'video/mp4',
  isMp4: true,
  isWhole: true,
  width: expect.any(Number),
  duration: expect.any(Number),
  others: [],
};

it.concurrent('an image of a file or a link is looked at: who is in it is not known, with the reason', async () => {
  const recognition = '/api/cloud/humanvid/img/recognition';
  const tasks = [
    await post(recognition, { img_file: await readImage() }),
    await post(recognition, { img_url: imageUrl }),
  ];
  for (const task of tasks) {
    const { body } = await followed(task, '/api/cloud/humanvid/task/status?');
    expect(body).toMatchObject({
      status: true,
      data: { task_id: task.body.data, has_person: null, reason: expect.stringMatching(/./), subjects: [] },
    });
  }
});

it.concurrent('somebody in an image says what is heard, of files and of links', async () => {
  const submit = '/api/cloud/humanvid/video/submit/task';
  const ends = [
    await post(submit, {
      img_input: await readImage(),
      audio_input: await downloadWav(recording),
      prompt: 'nods',
    }),
    await post(submit, { img_input: imageUrl, audio_input: recording, resolution: '720p' }),
  ];
  for (const end of ends) expect(await opened(await followed(end, HUMAN))).toMatchObject(film);
});

it.concurrent('an upstream that is full (50430) is asked again until it has room', async () => {
  await kiln.control('faults', { wire: 'volcengine', operation: 'detect', fault: 'queue-full' });
  const task = await post('/api/cloud/humanvid/img/recognition', { img_url: imageUrl });
  const { body } = await followed(task, '/api/cloud/humanvid/task/status?');
  expect(body).toMatchObject({ status: true, data: { has_person: null } });
});

it.concurrent('a video becomes an avatar, which speaks to a sound and from a text', async () => {
  const upload = await post('/api/cloud/digital/url2vid', { video_file: await mp4() });
  const { body: source } = await followed(upload, '/api/cloud/digital/task/status?task_type=upload');
  expect(source).toMatchObject({ status: true, data: { video_id: expect.stringMatching(/^v/) } });
  const fields = new URLSearchParams({ video_id: source.data.video_id, name: 'Ada' });
  const create = await rest(kiln.url, 'POST', '/api/cloud/digital/create', fields.toString(), {
    'content-type': 'application/x-www-form-urlencoded',
  });
  const { body: made } = await followed(create, '/api/cloud/digital/task/status?task_type=create_digital');
  expect(made).toMatchObject({
    status: true,
    data: { digital_id: expect.stringMatching(/^[0-9a-f-]{36}$/) },
  });
  const { digital_id } = made.data;
  const submit = '/api/cloud/digital/video/submit/task';
  const videos = [
    await post(submit, { digital_id, audio_file: await downloadWav(recording) }),
    await post(submit, { digital_id, audio_url: recording }),
    await post(submit, { digital_id, text: 'Good evening to you all.' }),
  ];
  for (const video of videos) expect(await opened(await followed(video, DIGITAL))).toMatchObject(film);
});

it.concurrent('an avatar that there is not is told as what was wrong', async () => {
  const submitted = await post('/api/cloud/digital/video/submit/task', {
    digital_id: 'nobody',
    audio_url: recording,
  });
  const { body } = await followed(submitted, DIGITAL);
  expect(body).toMatchObject({ status: false, msg: expect.stringContaining('resource_id') });
});

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
  const video_file = await readImage('me.mp4', 'video/mp4');
  expect(await post('/api/cloud/digital/url2vid', { video_file })).toMatchObject(
    refused('wrong file format'),
  );
  const stored = await post('/api/file/upload', { file: video_file });
  const video_url = stored.body.data as string;
  expect(await post('/api/cloud/digital/url2vid', { video_url })).toMatchObject(refused('image/png'));
});

it.concurrent('a file of another kind is refused at once, under the name that it was sent by', async () => {
  const note = new File(['a note'], 'note.txt', { type: 'text/plain' });
  const link = (await post('/api/file/upload', { file: note })).body.data as string;
  const recognition = '/api/cloud/humanvid/img/recognition';
  const speaking = '/api/cloud/humanvid/video/submit/task';
  const wrong = 'wrong file format, send';
  expect(await post(recognition, { img_file: note })).toMatchObject(refused(`img_file: ${wrong} an image`));
  expect(await post(recognition, { img_url: link })).toMatchObject(refused(`img_url: ${wrong} an image`));
  expect(await post(speaking, { img_input: link, audio_input: note })).toMatchObject(
    refused(`img_input: ${wrong} an image`),
  );
  const imageUrl = 'https://example.org/a.png';
  expect(await post(speaking, { img_input: imageUrl, audio_input: note })).toMatchObject(
    refused(`audio_input: ${wrong} a recording`),
  );
});

it.concurrent('hints at the kind of task: an unknown one is noted or refused, as documented', async () => {
  const id = '0199aaaa-0000-7000-8000-000000000000';
  const human = await rest(kiln.url, 'GET', `/api/cloud/humanvid/task/status?task_id=${id}&task_type=other`);
  expect(human).toMatchObject(refused(id));
  const avatar = await rest(kiln.url, 'GET', `/api/cloud/digital/task/status?task_id=${id}&task_type=other`);
  expect(avatar.status).toBe(422);
  expect(avatar.body.detail).toMatchObject([{ loc: ['query', 'task_type'], type: 'literal_error' }]);
});
