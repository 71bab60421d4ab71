import { createHash } from 'node:crypto';

import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { graphql, rest, taskEnd } from '../../kit/clients/requests.ts';
import { extent, isWhole } from '../../kit/extent.ts';
import { startKiln, type KilnUnderTest } from '../../kit/kiln.ts';

/** The main job with images that are really painted: submit, poll, download, look at what came. */

let kiln: KilnUnderTest;
beforeAll(async () => {
  kiln = await startKiln({ sandbox: { instantImages: false, size: 'small', workers: extent(1, 2) } });
  await kiln.control('latency', { queuedMs: 0, runningMs: 300 });
});
afterAll(() => kiln.close());

/** One entry of `media` in the reply of a finished task. */
interface MediaReply {
  readonly url: string;
  readonly content_type: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly width: number;
  readonly height: number;
}

async function create(body: object): Promise<string> {
  const { status, body: reply } = await rest(kiln.url, 'POST', '/api/task/create/task', body);
  expect([status, reply]).toEqual([
    200,
    { status: true, data: expect.stringMatching(/^[0-9a-f-]{36}$/), msg: 'task submitted' },
  ]);
  return reply.data;
}

async function finished(taskId: string) {
  const { body } = await taskEnd(kiln.url, taskId);
  expect(body).toMatchObject({ status: true, data: { task_id: taskId } });
  return body as { msg: string; data: { url: string; urls: string[]; media: MediaReply[] } };
}

async function download(url: string): Promise<Buffer> {
  const answer = await fetch(url);
  expect(answer.status).toBe(200);
  return Buffer.from(await answer.arrayBuffer());
}

async function described(url: string): Promise<string> {
  const { xmp } = await sharp(await download(url)).metadata();
  return /<rdf:li[^>]*>([^<]*)</.exec(String(xmp))?.[1] ?? '';
}

async function hashPixels(url: string): Promise<string> {
  const pixels = await sharp(await download(url))
    .raw()
    .toBuffer();
  return createHash('sha256').update(pixels).digest('hex');
}

/** The prompt in each of a task's images, in their order. */
async function readPrompts(taskId: string): Promise<string[]> {
  const { data } = await finished(taskId);
  return Promise.all(data.urls.map(described));
}

async function upload(content: Uint8Array<ArrayBuffer>, name: string): Promise<string> {
  const form = new FormData();
  form.set('file', new Blob([content], { type: 'image/png' }), name);
  const { body } = await rest(kiln.url, 'POST', '/api/file/upload', form);
  expect(body.status).toBe(true);
  return body.data;
}

describe('a submitted task', () => {
  it('is polled by the name of its state, and ends with the images that were asked for', async () => {
    const taskId = await create({ task_type: 'tea', prompt: 'a heron at the river', ar: '3:2' });
    const first = await rest(kiln.url, 'GET', `/api/task/status/${taskId}`);
    expect(first.body).toEqual({
      status: expect.stringMatching(/^(queued|running)$/),
      data: {
        task_id: taskId,
        state: first.body.status,
        stage: first.body.msg,
        progress: expect.any(Number),
        queue_position: first.body.data.queue_position,
      },
      msg: expect.any(String),
    });
    const { data, msg } = await finished(taskId);
    expect(msg).not.toContain('missing');
    expect(data.urls).toHaveLength(4);
    expect(data.url).toBe(data.urls[0]);
    expect(data.media.map(({ url }) => url)).toEqual(data.urls);
    for (const media of data.media) {
      expect(media.url).toMatch(new RegExp(`^${kiln.url}/files/[0-9a-f-]{36}/result-\\d\\.png$`));
      const bytes = await download(media.url);
      expect(media).toMatchObject({
        bytes: bytes.length,
        sha256: createHash('sha256').update(bytes).digest('hex'),
      });
      const image = await sharp(bytes).metadata();
      expect(media).toMatchObject({
        content_type: `image/${image.format}`,
        width: image.width,
        height: image.height,
      });
      expect(image.width / image.height).toBeCloseTo(3 / 2, 1);
    }
    const prompts = await readPrompts(taskId);
    for (const prompt of prompts) expect(prompt).toContain('a heron at the river');
    expect(new Set(prompts).size).toBe(4);
  });

  it.runIf(isWhole)(
    'paints other pixels for another prompt, and stands upright when no ratio is named',
    async () => {
      const ids = [
        await create({ task_type: 'chop', prompt: 'a red fox' }),
        await create({ task_type: 'chop', prompt: 'a snowy mountain' }),
      ];
      const urls: string[] = [];
      for (const id of ids) {
        const { data } = await finished(id);
        for (const { width, height } of data.media) expect(width / height).toBeCloseTo(9 / 16, 1);
        urls.push(...data.urls);
      }
      const pixels = await Promise.all(urls.map(hashPixels));
      expect(new Set(pixels).size).toBe(8);
    },
  );

  it('describes the given image first, and the description joins the prompt', async () => {
    const image = await sharp({ create: { width: 64, height: 64, channels: 3, background: '#c01818' } })
      .withXmp(
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">' +
          '<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:description><rdf:Alt>' +
          '<rdf:li xml:lang="x-default">a lantern of red paper</rdf:li></rdf:Alt></dc:description>' +
          '</rdf:Description></rdf:RDF></x:xmpmeta>',
      )
      .png()
      .toBuffer();
    const uploaded = await upload(new Uint8Array(image), 'lantern.png');
    // A file address of ours is read from the store, whatever host it names.
    const elsewhere = uploaded.replace(/^http:\/\/[^/]+/, 'https://cdn.example.org/x');
    for (const img_url of extent([elsewhere], [uploaded, elsewhere])) {
      const taskId = await create({ task_type: 'lady', prompt: 'a portrait', img_url });
      const prompts = await readPrompts(taskId);
      expect(prompts).toHaveLength(4);
      for (const prompt of prompts) {
        expect(prompt).toMatch(/^a portrait, /);
        expect(prompt).toContain('a lantern of red paper');
      }
      const { data } = await graphql(
        kiln.url,
        'query ($id: ID!) { task(id: $id) { events { stage } attempts { step state } } }',
        { id: taskId },
      );
      const stages = data.task.events.map(({ stage }: { stage: string }) => stage).join('; ');
      expect(stages.indexOf('describing the image')).toBeGreaterThanOrEqual(0);
      expect(stages.indexOf('describing the image')).toBeLessThan(stages.indexOf('image 1 of 4'));
      expect(data.task.attempts).toHaveLength(5);
    }
  });

  it.runIf(isWhole)(
    'of the type vlog makes its video of them, from the first to the last, and answers with the video first',
    async () => {
      const taskId = await create({ task_type: 'vlog', prompt: 'a day by the sea', ar: '9:16' });
      const { msg, data } = await finished(taskId);
      expect(msg).toBe('finished');
      expect(data.media.map(({ content_type }) => content_type)).toEqual([
        'video/mp4',
        ...Array.from({ length: 4 }, () => 'image/png'),
      ]);
      const [video] = data.media;
      expect(video).toMatchObject({ url: data.url, bytes: (await download(data.url)).length });
      expect((video?.width ?? 0) / (video?.height ?? 1)).toBeCloseTo(9 / 16, 1);
    },
  );
});

describe('an image’s address', () => {
  it('answers HEAD, ranges and conditions', async () => {
    const url = await upload(
      new Uint8Array(
        await sharp({
          create: { width: 40, height: 30, channels: 3, background: '#123456' },
        })
          .png()
          .toBuffer(),
      ),
      'plain.png',
    );
    const whole = await download(url);
    const head = await fetch(url, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), head.headers.get('content-type')]).toEqual([
      200,
      String(whole.length),
      'image/png',
    ]);
    const part = await fetch(url, { headers: { range: 'bytes=8-23' } });
    expect([part.status, part.headers.get('content-range')]).toEqual([206, `bytes 8-23/${whole.length}`]);
    expect(Buffer.from(await part.arrayBuffer())).toEqual(whole.subarray(8, 24));
    const tail = await fetch(url, { headers: { range: 'bytes=-5' } });
    expect(Buffer.from(await tail.arrayBuffer())).toEqual(whole.subarray(-5));
    const beyond = await fetch(url, { headers: { range: `bytes=${whole.length}-` } });
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, `bytes */${whole.length}`]);
    await beyond.text();
    const known = await fetch(url, { headers: { 'if-none-match': head.headers.get('etag') ?? '' } });
    expect(known.status).toBe(304);
    const unknown = await fetch(`${kiln.url}/files/0199aaaa-0000-7000-8000-000000000000/a.png`);
    expect(unknown.status).toBe(404);
    await unknown.text();
  });
});
