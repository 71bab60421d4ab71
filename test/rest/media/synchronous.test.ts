import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { graphql, rest } from '../../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../../kit/kiln.ts';

let kiln: KilnUnderTest;
beforeAll(async () => {
  kiln = await startKiln({ isQuick: true });
});
afterAll(() => kiln.close());

describe('the synchronous operation', () => {
  it('answers the running form when its ceiling passes, and the task goes on', async () => {
    await kiln.control('latency', { runningMs: 4_000 });
    const path = '/api/agg/imga/sync/image?prompt=slow&max_wait_time=0&poll_interval=99999&mode=warp';
    const { body } = await rest(kiln.url, 'POST', path);
    expect(body).toMatchObject({
      status: expect.stringMatching(/queued|running/),
      data: { task_id: expect.any(String) },
    });
    expect(body.msg).toContain('max_wait_time is limited to 1..3600');
    expect(body.msg).toContain('poll_interval is limited to 1..3600');
    expect(body.msg).toContain('unknown mode ignored, known are fast, turbo');
    await kiln.control('latency', { runningMs: 0 });
    const status = await rest(kiln.url, 'GET', `/api/task/status/${body.data.task_id}`);
    expect(status.body.status).not.toBe(false);
  });

  it('takes an image as its reference, under any of its names', async () => {
    const bytes = await sharp({ create: { width: 9, height: 9, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
    const image = new Uint8Array(bytes);
    const form = new FormData();
    form.set('image', new Blob([image], { type: 'image/png' }), 'red.png');
    form.set('ar', '1:1');
    const { body } = await rest(kiln.url, 'POST', '/api/agg/imga/sync/image?prompt=with%20an%20image', form);
    expect(body).toMatchObject({ status: true, data: { task_id: expect.any(String) } });
    const query = `query ($id: ID!) { task(id: $id) { input { files { input media { contentType width } } } } }`;
    const { data } = await graphql(kiln.url, query, { id: body.data.task_id });
    expect(data.task.input.files).toEqual([
      { input: 'images', media: { contentType: 'image/png', width: 9 } },
    ]);
  });

  it('tells what the upstream refuses', async () => {
    const banned = await rest(kiln.url, 'POST', '/api/agg/imga/sync/image?prompt=nsfw-test-banned');
    expect(banned.body).toMatchObject({
      status: false,
      data: { task_id: expect.any(String), error: { code: 'moderation_refused', retryable: false } },
      msg: expect.stringContaining('nsfw-test-banned'),
    });
    const empty = await rest(kiln.url, 'POST', '/api/agg/imga/sync/image?prompt=');
    expect([empty.status, empty.body]).toEqual([
      200,
      { status: false, data: null, msg: expect.stringContaining('prompt') },
    ]);
  });
});
