import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { WorkRequest } from '../../domain/work/request.ts';
import type { StepInput } from '../../domain/work/work.ts';
import type { CallCapability, Outcome, Provider } from '../../providers/contract/provider.ts';
import type { RunningTaskService } from '../rules/service.ts';
import { me, toRegistry, startEngine, type TestEngine } from '../testing/engine.ts';
import { testBinding } from '../testing/provider.ts';
import { PNG } from '../testing/upstream.ts';

/** Avatars through an engine whose providers answer at once and record their requests. */

let engine: TestEngine;
let service: RunningTaskService;
const requests: WorkRequest[] = [];

const box = (name: string, bytes: number): Buffer => {
  const content = Buffer.alloc(bytes);
  content.writeUInt32BE(bytes);
  content.write(name, 4, 'latin1');
  return content;
};
const FILM = Buffer.concat([box('ftyp', 16), box('mdat', 500), box('moov', 200)]);
const SOUND = Buffer.concat([Buffer.from([0xff, 0xfb]), Buffer.from('what is heard')]);

function answering(outcome: Partial<Outcome>): CallCapability {
  return {
    async call(request) {
      requests.push(request);
      return { files: [], texts: [], ...outcome };
    },
  };
}

const avatars: Provider = {
  name: 'avatars',
  calls: {
    AVATAR_SOURCE: answering({ facts: { videoId: 'v-1' } }),
    AVATAR: answering({ facts: { digitalId: 'd-1' } }),
    AVATAR_VIDEO: answering({ files: [{ content: FILM, contentType: 'video/mp4' }] }),
  },
};
const speaking: Provider = {
  name: 'speaking',
  calls: { SPEECH: answering({ files: [{ content: SOUND, contentType: 'audio/mpeg' }], texts: ['said'] }) },
};

beforeAll(async () => {
  engine = await startEngine();
  const registry = toRegistry(
    testBinding('cloud/digital#0', avatars, 'http://127.0.0.1:1'),
    testBinding('agg/speech_router#0', speaking, 'http://127.0.0.1:1'),
  );
  service = engine.service(registry);
  await engine.worker(registry);
});
afterAll(() => engine.stop());

const generator = 'cloud/digital';

async function done(work: StepInput) {
  const { id } = await service.submit(me, { work, fileIds: [], idempotencyKey: null, fingerprint: work });
  return engine.ended(service, id);
}

async function stored(content: Buffer): Promise<{ readonly fileId: string }> {
  const body = Readable.from([content]);
  const facts = {
    owner: me.id,
    name: 'me.mp4',
    declaredType: 'video/mp4',
    temporary: false,
    maxBytes: 5_000,
  };
  const { id } = await engine.files.store({ ...facts, body });
  return { fileId: id };
}

describe('the video of an avatar', () => {
  it('is handed over when it is MP4, and refused by what it is when it only says so', async () => {
    const film = await done({ kind: 'AVATAR_SOURCE', generator, video: await stored(FILM) });
    expect(film).toMatchObject({ state: 'SUCCEEDED', result: { mediaIds: [], facts: { videoId: 'v-1' } } });
    const before = requests.length;
    expect(await done({ kind: 'AVATAR_SOURCE', generator, video: await stored(PNG) })).toMatchObject({
      state: 'FAILED',
      error: { code: 'INVALID_INPUT', field: 'source', message: expect.stringContaining('image/png') },
    });
    expect(requests).toHaveLength(before);
  });
});

describe('an avatar', () => {
  it('is made of the video, and says what it hears', async () => {
    expect(await done({ kind: 'AVATAR', generator, videoId: 'v-1' })).toMatchObject({
      result: { facts: { digitalId: 'd-1' } },
    });
    const heard = await done({
      kind: 'AVATAR_VIDEO',
      generator,
      digitalId: 'd-1',
      audio: await stored(SOUND),
    });
    expect(heard).toMatchObject({ state: 'SUCCEEDED', progress: 100 });
    expect(await service.attempts([heard.id])).toMatchObject(new Map([[heard.id, [{ step: 1 }]]]));
  });

  it('says a text by having it spoken first; the result is the video alone', async () => {
    const work = { kind: 'AVATAR_VIDEO', generator, digitalId: 'd-1', text: 'Hello.', voiceId: 'v' } as const;
    const task = await done(work);
    expect(task).toMatchObject({
      kind: 'AVATAR_VIDEO',
      generator,
      state: 'SUCCEEDED',
      result: { texts: [] },
    });
    const [mediaId = '', ...others] = task.result?.mediaIds ?? [];
    expect([engine.files.stored.get(mediaId)?.contentType, others]).toEqual(['video/mp4', []]);
    const [speech, video] = requests.slice(-2);
    expect(speech).toMatchObject({ kind: 'SPEECH', text: 'Hello.', voiceId: 'v' });
    if (video?.kind !== 'AVATAR_VIDEO') throw new Error('no video was asked for');
    expect(await buffer(await video.audio.open())).toEqual(SOUND);
    expect((await service.attempts([task.id])).get(task.id)).toMatchObject([
      { step: 1, provider: 'speaking' },
      { step: 2, provider: 'avatars' },
    ]);
  });
});
