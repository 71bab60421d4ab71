import { expect, it } from 'vitest';

import { probeMedia } from '../../studio/measure/probe.ts';
import { postJson } from '../../test-kit.ts';
import { useSandbox } from '../../use-sandbox.fixture.ts';

/** MiniMax has no SDK for Node: its documented request, in every format that it names. */

const sandbox = useSandbox();

async function speak(audio: object, more: object = {}) {
  const { status, body } = await postJson(
    `${sandbox.url('minimax')}/v1/t2a_v2`,
    {
      model: 'speech-2.6-hd',
      text: 'hello',
      voice_setting: { voice_id: 'English_Graceful_Lady' },
      audio_setting: audio,
      ...more,
    },
    { authorization: 'Bearer test' },
  );
  return { status, body: body as { data?: { audio: string }; extra_info?: { audio_length: number } } };
}

it.each(['mp3', 'wav', 'flac'])('speaks as %s', async (format) => {
  const { body } = await speak({ format });
  expect(body).toMatchObject({ base_resp: { status_code: 0 }, extra_info: { audio_format: format } });
  const facts = await probeMedia(Buffer.from(body.data?.audio ?? '', 'hex'));
  expect(facts).toMatchObject({ kind: 'audio', container: format, channels: 1 });
  expect(Math.abs((facts.duration ?? 0) * 1_000 - (body.extra_info?.audio_length ?? 0))).toBeLessThan(60);
});

it('speaks as pcm: the samples of the WAV without its header', async () => {
  const [wav, pcm] = [await speak({ format: 'wav' }), await speak({ format: 'pcm' })];
  expect(pcm.body).toMatchObject({ base_resp: { status_code: 0 }, extra_info: { audio_format: 'pcm' } });
  expect(wav.body.data?.audio.endsWith(pcm.body.data?.audio ?? '?')).toBe(true);
  expect(wav.body.data?.audio.slice(0, 8)).toBe(Buffer.from('RIFF').toString('hex'));
});

it.each([
  ['another format', { format: 'opus' }, {}],
  ['a stream', { format: 'mp3' }, { stream: true }],
])('refuses %s with the code of a wrong input, and status 200', async (_, audio, more) => {
  expect(await speak(audio, more)).toMatchObject({ status: 200, body: { base_resp: { status_code: 2013 } } });
});
