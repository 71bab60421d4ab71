import { expect } from 'vitest';

import { videoRequest, type ContractRow } from '../../../../test/providers/contract/row.ts';
import { readFixture } from '../../../../test/providers/contract/wire-shape.ts';
import { must, createImage, SECRET } from '../../../../test/providers/environment/environment.ts';
import type { CallContext, Outcome, Provider } from '../contract/provider.ts';

/** MiniMax: videos, speech, cloned voices. Its wire has no place for a reference, and no list of tasks. */
const minimax: ContractRow = {
  provider: 'minimax',
  basePath: '/minimax',
  headers: { authorization: `Bearer ${SECRET}` },
  fixture: readFixture(new URL('wire.fixture.json', import.meta.url)),
  jobs: [
    {
      kind: 'VIDEO',
      operation: 'video',
      request: videoRequest({
        firstFrame: createImage(),
        lastFrame: createImage(),
        resolution: '768p',
        duration: 6,
      }),
      fields: {
        model: 'MiniMax-Hailuo-02',
        prompt: 'a lighthouse',
        duration: 6,
        resolution: '768P',
        first_frame_image: expect.stringMatching(/^data:image\/png;base64,iVBOR/),
        last_frame_image: expect.stringMatching(/^data:image\/png;base64,iVBOR/),
      },
      referenceField: null,
      operations: {
        status: 'query',
        list: 'none',
        cancel: 'none',
        download: 'download',
        besides: ['retrieve'],
      },
      unplayed: ['lost-silently'],
      results: { type: 'mp4', isHidden: true },
      tellsProgress: false,
      unknownState: {
        body: {
          task_id: '1',
          status: 'A_NEW_WORD',
          base_resp: { status_code: 0, status_msg: 'success' },
        },
      },
      outcome: { files: 1, texts: 0 },
    },
  ],
  short: [
    {
      title: 'speech',
      operation: 'speech',
      hasReference: false,
      fields: {
        model: 'speech-2.8-hd',
        text: 'This is a test.',
        stream: false,
        output_format: 'hex',
        voice_setting: {
          voice_id: 'English_Graceful_Lady',
          speed: 1.25,
          pitch: -2,
          vol: 1,
          emotion: 'calm',
        },
        audio_setting: { format: 'wav' },
      },
      run: speak,
      check: (answer) => expectSound(answer as Outcome),
    },
    {
      title: 'a cloned voice',
      operation: 'clone',
      before: ['upload'],
      hasReference: false,
      fields: { file_id: expect.any(Number), voice_id: 'kiln-voice-1' },
      run: clone,
      check: (answer) =>
        expect(answer).toEqual({
          files: [],
          texts: [],
          facts: { voiceId: 'kiln-voice-1', name: 'Ann', language: null },
        }),
    },
  ],
};

/** The videos of MiniMax-H3, which the v2 API makes. */
const version2: ContractRow = {
  ...minimax,
  api: 'v2',
  model: 'MiniMax-H3',
  jobs: [
    {
      kind: 'VIDEO',
      operation: 'videoV2',
      request: videoRequest({ references: [createImage()], resolution: '768P', duration: 5 }),
      fields: {
        model: 'MiniMax-H3',
        content: [
          { type: 'text', text: 'a lighthouse' },
          {
            type: 'image_url',
            role: 'reference_image',
            image_url: { url: expect.stringMatching(/^data:image\/png;base64,iVBOR/) },
          },
        ],
        resolution: '768P',
        duration: 5,
        ratio: 'adaptive',
      },
      referenceField: null,
      operations: {
        status: 'queryV2',
        list: 'none',
        cancel: 'none',
        erase: 'deleteV2',
        download: 'download',
      },
      unplayed: ['lost-silently'],
      results: { type: 'mp4', isHidden: true },
      tellsProgress: false,
      unknownState: { body: { task: { id: '1', status: 'a_new_word' } } },
      outcome: { files: 1, texts: 0 },
    },
  ],
};

type Context = CallContext & { readonly reference: string };

async function speak(provider: Provider, context: Context): Promise<unknown> {
  return provider.calls?.SPEECH?.call(
    {
      kind: 'SPEECH',
      text: 'This is a test.',
      voiceId: 'English_Graceful_Lady',
      speed: 1.25,
      pitch: -2,
      volume: 1,
      emotion: 'calm',
      format: 'wav',
    },
    context,
  );
}

async function clone(provider: Provider, context: Context): Promise<unknown> {
  return provider.calls?.VOICE_CLONE?.call(
    {
      kind: 'VOICE_CLONE',
      sample: createImage({ name: 'sample.mp3', contentType: 'audio/mpeg' }),
      voiceId: 'kiln-voice-1',
      name: 'Ann',
      text: undefined,
    },
    context,
  );
}

function expectSound({ files, texts }: Outcome): void {
  expect(texts).toEqual([]);
  const [file] = files;
  const inline = must(file !== undefined && 'content' in file ? file : null, 'inline sound');
  expect([files.length, inline.contentType]).toEqual([1, 'audio/wav']);
  expect(Buffer.from(inline.content.subarray(0, 4)).toString('latin1')).toBe('RIFF');
}

/** What the contract suite tries. */
export const rows: readonly ContractRow[] = [minimax, version2];
