import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { silentLogger } from '../../../platform/process/logger.ts';
import { createSandbox, type Sandbox } from '../../sandbox.ts';
import { plan, postJson, startSandbox, temporaryFolder } from '../../test-kit.ts';

/** The traps of the MiniMax wire, over its own socket. */

let sandbox: Sandbox;
let stop: () => Promise<void>;
let url: string;

beforeAll(async () => {
  ({ sandbox, stop } = await startSandbox());
  url = `${sandbox.url}/minimax`;
});
afterAll(() => stop());
beforeEach(async () => {
  await fetch(`${sandbox.url}/_control`, { method: 'DELETE' });
  await quicken(sandbox);
});

const quicken = (one: Sandbox) =>
  postJson(`${one.url}/_control/latency`, { wire: 'minimax', queuedMs: 0, runningMs: 20 });

const LOGIN = { authorization: 'Bearer a-key' };
const DATA_URL = 'data:image/png;base64,iVBORw0KGgo=';

interface Said extends Record<string, unknown> {
  readonly base_resp: { readonly status_code: number; readonly status_msg: string };
}

async function post(path: string, body: object, at = url): Promise<Said> {
  const answer = await postJson(`${at}${path}`, body, LOGIN);
  // Whatever came of it.
  expect(answer.status).toBe(200);
  return answer.body as Said;
}

async function get(path: string): Promise<Said> {
  const answer = await fetch(`${url}${path}`, { headers: LOGIN });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Said;
}

const readCode = ({ base_resp: { status_code: code } }: Said) => code;
const startVideo = (body: object) => post('/v1/video_generation', { model: 'MiniMax-Hailuo-02', ...body });
const speech = (change: object = {}) => ({
  model: 'speech-2.8-hd',
  text: 'This is a test.',
  voice_setting: { voice_id: 'English_Graceful_Lady' },
  ...change,
});

async function endedVideo(id: unknown): Promise<Said> {
  const path = `/v1/query/video_generation?task_id=${String(id)}`;
  await expect.poll(async () => (await get(path))['status']).toMatch(/^(Success|Fail)$/);
  return get(path);
}

describe('a video', () => {
  it('ends with a file that has to be asked for', async () => {
    const begun = await startVideo({ prompt: 'a fox' });
    expect(begun).toEqual({
      task_id: expect.stringMatching(/^\d{15}$/),
      base_resp: { status_code: 0, status_msg: 'success' },
    });
    const done = await endedVideo(begun['task_id']);
    expect(done).toMatchObject({ status: 'Success', video_width: 128, video_height: 72 });
    const { file } = (await get(`/v1/files/retrieve?file_id=${String(done['file_id'])}`)) as unknown as {
      file: { file_id: number; download_url: string };
    };
    // Digits there, a number here.
    expect(file.file_id).toBe(Number(done['file_id']));
    const answer = await fetch(file.download_url);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'video/mp4']);
  });

  it.each([
    [{}, 'prompt'],
    [{ last_frame_image: DATA_URL }, 'prompt'],
    [{ prompt: 'a fox', duration: 7 }, 'duration'],
    [{ prompt: 'a fox', duration: 10, resolution: '1080P' }, '6 seconds only'],
    [{ prompt: 'a fox', first_frame_image: 'iVBORw0KGgo=' }, 'first_frame_image'],
  ])('with %j is refused with 200 and no task: it names %s', async (asked, named) => {
    const said = await startVideo(asked);
    expect([readCode(said), said['task_id']]).toEqual([2013, '']);
    expect(said.base_resp.status_msg).toContain(named);
  });

  it('that failed says why as the code of its answer', async () => {
    await plan(sandbox, { wire: 'minimax', operation: 'video', fault: 'late-moderation' });
    const { task_id: id } = await startVideo({ prompt: 'a fox' });
    const failed = await endedVideo(id);
    expect([failed['status'], readCode(failed)]).toEqual(['Fail', 1027]);
  });

  it('is refused with 200 for its words, for lack of room, and for a key that is not there', async () => {
    expect(readCode(await startVideo({ prompt: 'nsfw-test-banned' }))).toBe(1026);
    await plan(sandbox, { wire: 'minimax', operation: 'video', fault: 'queue-full' });
    expect(readCode(await startVideo({ prompt: 'a fox' }))).toBe(1002);
    const { status, body } = await postJson(`${url}/v1/video_generation`, { prompt: 'a fox' });
    expect([status, readCode(body as Said)]).toEqual([200, 1004]);
    expect(readCode(await get('/v1/query/video_generation?task_id=1'))).toBe(2013);
  });
});

describe('speech', () => {
  it('comes as hexadecimal digits, or at an address', async () => {
    const said = await post('/v1/t2a_v2', speech());
    const { audio } = said['data'] as { audio: string };
    expect(said).toMatchObject({
      data: { status: 2 },
      extra_info: { audio_format: 'mp3', usage_characters: 15 },
    });
    const at = await post('/v1/t2a_v2', speech({ output_format: 'url' }));
    const { audio: address } = at['data'] as { audio: string };
    const sound = Buffer.from(await (await fetch(address)).arrayBuffer());
    expect(sound.toString('hex')).toBe(audio);
  });

  it.each([
    [{ voice_setting: { voice_id: 'nobody' } }, 2054],
    [{ voice_setting: { voice_id: 'English_Graceful_Lady', speed: 3 } }, 2013],
    [{ audio_setting: { format: 'opus' } }, 2013],
    [{ text: 'nsfw-test-banned' }, 1026],
    [{ stream: true }, 2013],
  ])('with %j is refused with code %i', async (change, code) => {
    expect(readCode(await post('/v1/t2a_v2', speech(change)))).toBe(code);
  });
});

describe('a cloned voice', () => {
  async function upload(at = url): Promise<number> {
    const form = new FormData();
    form.append('purpose', 'voice_clone');
    form.append('file', new Blob(['a sample']), 'sample.mp3');
    const answer = await fetch(`${at}/v1/files/upload`, { method: 'POST', headers: LOGIN, body: form });
    return ((await answer.json()) as { file: { file_id: number } }).file.file_id;
  }

  it('is made of an upload, speaks, is listed, and can not be made twice', async () => {
    const fileId = await upload();
    const asked = { file_id: fileId, voice_id: 'my-voice-1', text: 'This is me.', model: 'speech-2.8-hd' };
    const made = await post('/v1/voice_clone', asked);
    expect((await fetch(String(made['demo_audio']))).headers.get('content-type')).toBe('audio/mpeg');
    expect(readCode(await post('/v1/voice_clone', asked))).toBe(2039);
    expect(readCode(await post('/v1/t2a_v2', speech({ voice_setting: { voice_id: 'my-voice-1' } })))).toBe(0);
    expect(await post('/v1/get_voice', { voice_type: 'voice_cloning' })).toMatchObject({
      system_voice: [],
      voice_cloning: [{ voice_id: 'my-voice-1' }],
    });
  });

  it.each([
    [{ voice_id: 'my-voice-1' }, 2013],
    [{ file_id: 1, voice_id: 'my-voice-1' }, 2013],
    [{ file_id: 1, voice_id: '1-voice' }, 2013],
  ])('of %j is refused', async (asked, code) => {
    expect(readCode(await post('/v1/voice_clone', asked))).toBe(code);
  });

  it('and the samples outlive the process', async () => {
    const { folder, remove } = await temporaryFolder();
    const options = { dataDir: folder, logger: silentLogger(), instantImages: true };
    const first = await createSandbox(options);
    await quicken(first);
    const fileId = await upload(`${first.url}/minimax`);
    await post('/v1/voice_clone', { file_id: fileId, voice_id: 'my-voice-1' }, `${first.url}/minimax`);
    await first.close();
    const second = await createSandbox(options);
    try {
      const at = `${second.url}/minimax`;
      await quicken(second);
      expect(
        readCode(await post('/v1/t2a_v2', speech({ voice_setting: { voice_id: 'my-voice-1' } }), at)),
      ).toBe(0);
      const again = { file_id: fileId, voice_id: 'my-voice-2' };
      expect(readCode(await post('/v1/voice_clone', again, at))).toBe(0);
    } finally {
      await second.close();
      await remove();
    }
  });
});
