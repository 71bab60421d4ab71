import { describe, expect, it } from 'vitest';

import { videoRequest } from '../../../../test/providers/contract/row.ts';
import { readFixture } from '../../../../test/providers/contract/wire-shape.ts';
import { catchFailure, must, createImage } from '../../../../test/providers/environment/environment.ts';
import type { ScriptedResponse } from '../../../../test/providers/environment/recording-proxy.ts';
import { useScriptedProvider } from '../../../../test/providers/environment/use-scripted-provider.ts';
import type { CallCapability, JobCapability } from '../contract/provider.ts';

/** What the contract leaves out: the codes behind HTTP 200, the newer paths' errors, odd answers, uploads and voices. */

const { answers } = readFixture(new URL('wire.fixture.json', import.meta.url));
const SUCCESS = { status_code: 0, status_msg: 'success' };
const stage = useScriptedProvider('minimax');

const job = (): JobCapability => must(stage.provider.jobs?.VIDEO, 'job');
const call = (kind: 'SPEECH' | 'VOICE_CLONE'): CallCapability => must(stage.provider.calls?.[kind], kind);
const start = (answer: ScriptedResponse) => {
  stage.proxy.respondNext('/v1/video_generation', answer);
  return job().start(videoRequest(), stage.context);
};
const status = (answer: ScriptedResponse) => {
  stage.proxy.respondNext('/v1/query/', answer);
  return job().status({ taskId: '361720188367060' }, stage.context);
};
const code = (status_code: number) => ({ base_resp: { status_code, status_msg: 'why' } });
const sample = createImage({ name: 'sample.mp3', contentType: 'audio/mpeg' });

describe('a start', () => {
  it('that is accepted names its task, by digits or a number', async () => {
    expect(await start({ body: answers['accepted'] })).toEqual({ taskId: '361720188367060' });
    expect(await start({ body: { task_id: 7, base_resp: SUCCESS } })).toEqual({ taskId: '7' });
  });

  it.each([
    [1002, 'RATE_LIMITED', true, false],
    [2056, 'RATE_LIMITED', true, false],
    [1004, 'UNAVAILABLE', false, false],
    [2049, 'UNAVAILABLE', false, false],
    [1008, 'OUT_OF_CREDIT', true, false],
    [1026, 'MODERATION_REFUSED', false, false],
    [2013, 'INVALID_INPUT', false, false],
    [1033, 'UNAVAILABLE', true, true],
    [4242, 'UNAVAILABLE', true, true],
  ])('that is answered 200 with code %i is %s', async (status_code, expected, retryable, startUnknown) => {
    const error = await catchFailure(start({ body: { task_id: '', ...code(status_code) } }));
    expect(error).toMatchObject({ code: expected, retryable, startUnknown });
  });

  it.each([
    [402, 'noCreditOfNewerPaths', 'OUT_OF_CREDIT'],
    [422, 'sensitiveOfNewerPaths', 'MODERATION_REFUSED'],
  ])('that is answered %i reads the code at the end of the message (%s)', async (http, name, expected) => {
    const error = await catchFailure(start({ status: http, body: answers[name] }));
    expect(error).toMatchObject({ code: expected, startUnknown: false });
  });

  it.each([
    ['no task', { task_id: '', base_resp: SUCCESS }],
    ['no code', { task_id: '1' }],
    ['nothing known', ['?']],
  ])('that is answered 200 with %s may have happened', async (_what, body) => {
    expect(await catchFailure(start({ body }))).toMatchObject({ code: 'UNAVAILABLE', startUnknown: true });
  });

  it('of an older account names its group', async () => {
    const connection = { ...stage.context.connection, credentials: { groupId: '18 5' } };
    stage.proxy.respondNext('/v1/video_generation', { body: answers['accepted'] });
    await job().start(videoRequest(), { ...stage.context, connection });
    expect(stage.proxy.sent[0]?.path).toBe('/v1/video_generation?GroupId=18+5');
  });
});

describe('a video', () => {
  it('that is finished has its file’s address, fresh each time', async () => {
    stage.proxy.respondNext('/v1/files/retrieve?file_id=241342648594580', { body: answers['retrieved'] });
    expect(await status({ body: answers['finished'] })).toEqual({
      state: 'finished',
      outcome: { files: [{ url: 'https://cdn.example.com/output_aigc.mp4' }], texts: [] },
    });
  });

  it.each([
    ['Preparing', 'queued'],
    ['Queueing', 'queued'],
    ['Processing', 'running'],
    ['Something new', 'running'],
    [null, 'running'],
  ])('in the state %j is %s', async (word, state) => {
    const body = { task_id: '1', status: word, file_id: null, base_resp: SUCCESS };
    expect((await status({ body })).state).toBe(state);
  });

  it.each([
    [1026, 'MODERATION_REFUSED', false],
    [1027, 'MODERATION_REFUSED', false],
    [2013, 'INVALID_INPUT', false],
    [1033, 'UNAVAILABLE', true],
    [0, 'UNAVAILABLE', true],
  ])('that failed with code %i is %s', async (status_code, expected, retryable) => {
    const now = await status({ body: { task_id: '1', status: 'Fail', ...code(status_code) } });
    expect(now).toMatchObject({ state: 'failed', error: { code: expected, retryable } });
  });

  it('whose file is gone is lost', async () => {
    stage.proxy.respondNext('/v1/files/retrieve', { body: code(2013) });
    expect(await catchFailure(status({ body: answers['finished'] }))).toMatchObject({ code: 'LOST' });
  });

  it.each([null, '', {}])(
    'whose file is %j is asked about again, and no file is looked for',
    async (file_id) => {
      const body = { task_id: '1', status: 'Success', file_id, base_resp: SUCCESS };
      expect(await catchFailure(status({ body }))).toMatchObject({
        code: 'UNAVAILABLE',
        message: 'minimax finished a video without its file',
      });
      expect(stage.proxy.sent).toHaveLength(1);
    },
  );

  it('is not lost when its status is refused for now, with 200 as well', async () => {
    const headers = { 'retry-after': '9' };
    const error = await catchFailure(status({ headers, body: code(1002) }));
    expect(error).toMatchObject({ code: 'RATE_LIMITED', retryable: true, retryAfter: 9 });
  });
});

describe('a video of the newer API', () => {
  const context = () => {
    const { connection } = stage.context;
    return { ...stage.context, connection: { ...connection, model: 'MiniMax-H3' } };
  };
  const handle = { taskId: 'a/1', version: '2' };
  const begin = (body: object, status = 200) => {
    stage.proxy.respondNext('/v2/video_generation', { status, body });
    return job().start(videoRequest(), context());
  };
  const readStatus = (task: object) => {
    stage.proxy.respondNext('/v2/query/video_generation/a%2F1', { body: { task } });
    return job().status(handle, context());
  };

  it('is asked for by its content, and named by its task', async () => {
    expect(await begin({ task_id: 7 })).toEqual({ taskId: '7', version: '2' });
    expect(JSON.parse(String(stage.proxy.sent[0]?.body))).toEqual({
      model: 'MiniMax-H3',
      content: [{ type: 'text', text: 'a lighthouse' }],
      ratio: '16:9',
    });
    expect(await catchFailure(begin({ task_id: null }))).toMatchObject({
      code: 'UNAVAILABLE',
      startUnknown: true,
    });
    const refused = { type: 'error', error: { message: 'no (1008)' } };
    expect(await catchFailure(begin(refused, 402))).toMatchObject({ code: 'OUT_OF_CREDIT' });
    expect(await catchFailure(begin({}, 400))).toMatchObject({ message: 'minimax: HTTP 400' });
  });

  it.each([
    [{ status: 'queued' }, { state: 'queued' }],
    [{ status: 'running' }, { state: 'running', progress: null, stage: 'rendering' }],
    [
      { status: 'succeeded', content: { url: 'https://m.example/1.mp4' } },
      { state: 'finished', outcome: { files: [{ url: 'https://m.example/1.mp4' }], texts: [] } },
    ],
    [{ status: 'failed', error: { code: '1026', message: 'no' } }, { error: { code: 'MODERATION_REFUSED' } }],
    [{ status: 'cancelled', error: { message: 'no (2013)' } }, { error: { code: 'INVALID_INPUT' } }],
    [
      { status: 'failed', error: null },
      { error: { code: 'UNAVAILABLE', message: 'minimax failed: no reason given' } },
    ],
    [{ status: 'failed', error: { message: 'smoke' } }, { error: { message: 'minimax failed: smoke' } }],
    [{ status: 'expired' }, { state: 'failed', error: { code: 'UNAVAILABLE', retryable: true } }],
  ])('that is told as %j is %j', async (task, expected) => {
    expect(await readStatus(task)).toMatchObject(expected);
  });

  it('without an address, or that is not known, is told', async () => {
    expect(await catchFailure(readStatus({ status: 'succeeded' }))).toMatchObject({
      message: 'minimax finished a video without its address',
    });
    stage.proxy.respondNext('/v2/query', { status: 400, body: { error: { message: 'no (2013)' } } });
    expect(await catchFailure(job().status(handle, context()))).toMatchObject({ code: 'LOST' });
  });

  it('is erased there, where there is something, and an older one is not asked for', async () => {
    const erase = async (what: object = handle) => job().erase?.(what as typeof handle, context());
    for (const status of [200, 400]) {
      stage.proxy.respondNext('/v2/video_generation/a%2F1', { status, body: {} });
      await erase();
    }
    await erase({ taskId: 'a/1' });
    expect(stage.proxy.sent.map(({ method }) => method)).toEqual(['DELETE', 'DELETE']);
    stage.proxy.respondNext('/v2/video_generation/a%2F1', { status: 401, body: {} });
    expect(await catchFailure(erase())).toMatchObject({ refusedCredentials: true });
  });
});

describe('a video of the older API', () => {
  it('is asked for by its frames, public ones by their addresses', async () => {
    stage.proxy.respondNext('/v1/video_generation', { body: answers['accepted'] });
    const firstFrame = createImage({ publicUrl: 'https://example.com/a.png' });
    await job().start(
      videoRequest({ firstFrame, lastFrame: createImage(), resolution: '1080p' }),
      stage.context,
    );
    expect(JSON.parse(String(stage.proxy.sent[0]?.body))).toEqual({
      model: expect.stringMatching(/^MiniMax-Hailuo/),
      prompt: 'a lighthouse',
      resolution: '1080P',
      first_frame_image: 'https://example.com/a.png',
      last_frame_image: expect.stringMatching(/^data:image\/png;base64,/),
    });
  });

  it.each([2061, 2013])(
    'of a model that is not there, by code %i, is of no caller’s fault',
    async (status_code) => {
      const body = { base_resp: { status_code, status_msg: 'invalid params, the model does not exist' } };
      expect(await catchFailure(start({ body }))).toMatchObject({ code: 'MODEL_GONE' });
    },
  );

  it('that failed for a reason of no code is told with its words', async () => {
    const said = { base_resp: { status_code: 1033, status_msg: 'smoke' } };
    expect(await status({ body: { task_id: '1', status: 'Fail', ...said } })).toMatchObject({
      error: { message: 'minimax failed: smoke' },
    });
    const silent = { base_resp: { status_code: 0, status_msg: 'success' } };
    expect(await status({ body: { task_id: '1', status: 'Fail', ...silent } })).toMatchObject({
      error: { message: 'minimax failed: no reason given' },
    });
  });
});

describe('speech', () => {
  const speak = (answer: ScriptedResponse) => {
    stage.proxy.respondNext('/v1/t2a_v2', answer);
    return call('SPEECH').call({ kind: 'SPEECH', text: 'hi', voiceId: 'v' }, stage.context);
  };

  it('comes as hexadecimal digits, of the type that the answer names', async () => {
    const { files } = await speak({ body: answers['spoken'] });
    expect(files).toEqual([{ content: Buffer.from('ID3'), contentType: 'audio/mpeg' }]);
  });

  it.each(['4944333', 'xyz0', '49443 '])(
    'is not taken for whole when its digits are not: %j',
    async (audio) => {
      const body = { data: { audio, status: 2 }, base_resp: SUCCESS };
      expect(await catchFailure(speak({ body }))).toMatchObject({ code: 'UNAVAILABLE', startUnknown: true });
    },
  );

  it('is asked for in its voice, with whole steps of pitch, and of its own type', async () => {
    const body = { data: { audio: '494433' }, base_resp: SUCCESS };
    stage.proxy.respondNext('/v1/t2a_v2', { body });
    const request = { kind: 'SPEECH', text: 'hi', voiceId: 'v', pitch: 1.6, format: 'wav' } as const;
    const { files } = await call('SPEECH').call(request, stage.context);
    expect(files).toMatchObject([{ contentType: 'audio/wav' }]);
    expect(JSON.parse(String(stage.proxy.sent[0]?.body))).toEqual({
      model: 'speech-2.8-hd',
      text: 'hi',
      stream: false,
      output_format: 'hex',
      voice_setting: { voice_id: 'v', pitch: 2 },
      audio_setting: { format: 'wav' },
    });
    expect(await speak({ body })).toMatchObject({ files: [{ contentType: 'audio/mpeg' }] });
    expect(JSON.parse(String(stage.proxy.sent[1]?.body))).toMatchObject({
      voice_setting: { voice_id: 'v' },
      audio_setting: { format: 'mp3' },
    });
    expect(await catchFailure(speak({ body: code(1026) }))).toMatchObject({ field: 'text' });
  });

  it('by a voice that is not there names the field', async () => {
    const error = await catchFailure(speak({ body: code(2054) }));
    expect(error).toMatchObject({ code: 'INVALID_INPUT', field: 'voiceId', retryable: false });
  });
});

describe('a cloned voice', () => {
  const clone = (change: { voiceId?: string; text?: string; uploaded?: string } = {}) =>
    call('VOICE_CLONE').call(
      {
        kind: 'VOICE_CLONE',
        sample:
          change.uploaded === undefined
            ? sample
            : { ...sample, uploaded: { id: change.uploaded, uri: null } },
        voiceId: change.voiceId,
        text: change.text,
      },
      stage.context,
    );
  const uploaded = { body: { file: { file_id: 2_413 }, base_resp: SUCCESS } };
  const sentBody = (index: number) => JSON.parse(String(stage.proxy.sent[index]?.body)) as object;

  it('is made of an uploaded sample, under the same id for the same attempt, with a demo when it has words', async () => {
    const demo = 'https://cdn.example.com/demo.mp3';
    stage.proxy.respondNext('/v1/files/upload', uploaded);
    stage.proxy.respondNext('/v1/voice_clone', { body: { demo_audio: demo, base_resp: SUCCESS } });
    const { files, facts } = await clone({ text: 'hello' });
    const voiceId = must(facts, 'facts')['voiceId'];
    expect(files).toEqual([{ url: demo }]);
    expect(voiceId).toMatch(/^kiln-[\da-f]{24}$/);
    const words = { text: 'hello', model: 'speech-2.8-hd' };
    expect(sentBody(1)).toEqual({ file_id: 2_413, voice_id: voiceId, ...words });
  });

  it('uploads nothing that the provider has already', async () => {
    stage.proxy.respondNext('/v1/voice_clone', { body: { demo_audio: '', base_resp: SUCCESS } });
    expect(await clone({ uploaded: '77', voiceId: 'my-voice-1' })).toMatchObject({ files: [] });
    expect(stage.proxy.sent.map(({ path }) => path)).toEqual(['/v1/voice_clone']);
    expect(sentBody(0)).toEqual({ file_id: 77, voice_id: 'my-voice-1' });
  });

  it.each(['short', '1voice-of-mine', 'voice of mine', 'voice-of-mine-'])(
    'named %j is refused before anything is sent',
    async (voiceId) => {
      expect(await catchFailure(clone({ voiceId }))).toMatchObject({
        code: 'INVALID_INPUT',
        field: 'voiceId',
      });
      expect(stage.proxy.sent).toEqual([]);
    },
  );

  it('certainly was not made when the sample did not arrive', async () => {
    stage.proxy.respondNext('/v1/files/upload', { status: 500, body: {} });
    expect(await catchFailure(clone())).toMatchObject({
      code: 'UNAVAILABLE',
      retryable: true,
      startUnknown: false,
    });
  });

  it.each([
    [code(2039), 'INVALID_INPUT', 'voiceId'],
    [code(2037), 'INVALID_INPUT', 'sample'],
    [{ input_sensitive: true, base_resp: SUCCESS }, 'MODERATION_REFUSED', 'sample'],
  ])('that is refused names the field: %j', async (body, expected, field) => {
    stage.proxy.respondNext('/v1/voice_clone', { body });
    const error = await catchFailure(clone({ uploaded: '77' }));
    expect(error).toMatchObject({ code: expected, field, retryable: false, startUnknown: false });
  });
});

describe('what is asked at once', () => {
  it('are the voices: its own, with their languages, and the clones; one odd entry hides no other', async () => {
    const body = {
      system_voice: [
        { voice_id: 'English_Graceful_Lady', voice_name: 'Graceful Lady', description: [] },
        'odd',
        { voice_id: 'Chinese (Mandarin)_Lyrical_Voice', voice_name: null },
        { voice_id: 'male-qn-qingse', voice_name: 'Young Man' },
      ],
      voice_cloning: [{ voice_id: 'kiln-1', description: [], created_time: '2026-11-21' }],
      voice_generation: null,
      base_resp: SUCCESS,
    };
    stage.proxy.respondNext('/v1/get_voice', { body });
    const list = await must(stage.provider.voices, 'voices')(stage.context);
    expect(list.answer).toEqual(body);
    expect(list.voices).toEqual([
      { id: 'English_Graceful_Lady', name: 'Graceful Lady', language: 'English', cloned: false },
      {
        id: 'Chinese (Mandarin)_Lyrical_Voice',
        name: 'Chinese (Mandarin)_Lyrical_Voice',
        language: 'Chinese (Mandarin)',
        cloned: false,
      },
      { id: 'male-qn-qingse', name: 'Young Man', language: null, cloned: false },
      { id: 'kiln-1', name: 'kiln-1', language: null, cloned: true },
    ]);
  });

  it('is an upload of a sample; nothing else is kept there', async () => {
    const upload = must(stage.provider.upload, 'upload');
    const body = { file: { file_id: 2_413, bytes: 68 }, base_resp: SUCCESS };
    stage.proxy.respondNext('/v1/files/upload', { body });
    expect(await upload({ file: sample, purpose: 'voice-sample' }, stage.context)).toEqual({
      id: '2413',
      uri: null,
      expiresAt: null,
      answer: body,
    });
    const error = await catchFailure(upload({ file: sample, purpose: 'analysis' }, stage.context));
    expect(error).toMatchObject({ code: 'INVALID_INPUT', field: 'purpose' });
  });
});
