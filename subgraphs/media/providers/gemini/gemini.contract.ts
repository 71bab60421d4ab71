import { expect } from 'vitest';

import {
  imageRequest,
  videoRequest,
  type ContractRow,
  type ShortRow,
} from '../../../../test/providers/contract/row.ts';
import { readFixture } from '../../../../test/providers/contract/wire-shape.ts';
import { isPng, must, createImage, SECRET } from '../../../../test/providers/environment/environment.ts';
import type { ChatPiece, Outcome } from '../contract/provider.ts';

const CHAT = {
  messages: [{ role: 'user', content: 'what is 2 + 3?' }],
  system: 'be brief',
  temperature: 0.5,
  maxTokens: 200,
};
const INLINE = { inlineData: { mimeType: 'image/png', data: expect.stringMatching(/^iVBORw0KGgo/) } };

/** The Gemini API and Veo. Files in Google's own storage are in gemini.test.ts. */
const gemini: ContractRow = {
  provider: 'gemini',
  basePath: '/gemini/v1beta',
  headers: { 'x-goog-api-key': SECRET },
  fixture: readFixture(new URL('wire.fixture.json', import.meta.url)),
  jobs: [
    {
      kind: 'VIDEO',
      operation: 'video',
      request: videoRequest({
        negativePrompt: 'people',
        firstFrame: createImage(),
        lastFrame: createImage(),
        aspectRatio: '9:16',
        resolution: '720p',
        duration: 4,
        seed: 7,
      }),
      fields: {
        instances: [
          {
            prompt: 'a lighthouse',
            image: { bytesBase64Encoded: expect.stringMatching(/^iVBOR/), mimeType: 'image/png' },
            lastFrame: { bytesBase64Encoded: expect.stringMatching(/^iVBOR/), mimeType: 'image/png' },
          },
        ],
        parameters: {
          sampleCount: 1,
          aspectRatio: '9:16',
          resolution: '720p',
          durationSeconds: 4,
          seed: 7,
          negativePrompt: 'people',
        },
      },
      referenceField: null,
      operations: { status: 'operation', list: 'none', cancel: 'none', download: 'download' },
      results: { type: 'mp4', needsKeyAtHome: true, isHidden: true },
      tellsProgress: false,
      tellsWaiting: false,
      unknownState: {
        body: { name: 'models/veo/operations/1', metadata: { state: 'A_NEW_WORD' }, done: false },
      },
      outcome: { files: 1, texts: 0 },
    },
  ],
  short: [
    {
      title: 'an image',
      operation: 'image',
      hasReference: false,
      fields: {
        contents: [{ role: 'user', parts: [INLINE, { text: 'a lighthouse\n\nAvoid: people' }] }],
        generationConfig: {
          responseModalities: ['IMAGE'],
          imageConfig: { aspectRatio: '16:9' },
          seed: 7,
        },
      },
      run: async (provider, context) =>
        provider.calls?.IMAGE?.call(
          imageRequest({ images: [createImage()], aspectRatio: '16:9', negativePrompt: 'people', seed: 7 }),
          context,
        ),
      check: (answer) => {
        const { files, texts } = answer as Outcome;
        const [file] = files;
        const inline = must(file !== undefined && 'content' in file ? file : null, 'inline image');
        expect([files.length, texts, isPng(inline.content), inline.contentType]).toEqual([
          1,
          [],
          true,
          'image/png',
        ]);
      },
    },
    {
      title: 'speech',
      operation: 'speech',
      hasReference: false,
      fields: {
        contents: [{ role: 'user', parts: [{ text: 'good morning' }] }],
        generationConfig: {
          responseModalities: ['AUDIO'],
          speechConfig: {
            voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } },
            languageCode: 'en-US',
          },
        },
      },
      run: async (provider, context) =>
        provider.calls?.SPEECH?.call(
          {
            kind: 'SPEECH',
            text: 'good morning',
            voiceId: 'Kore',
            options: { generationConfig: { speechConfig: { languageCode: 'en-US' } } },
          },
          { ...context, connection: { ...context.connection, model: 'gemini-3.8-flash-tts' } },
        ),
      check: (answer) => {
        const { files, units } = answer as Outcome;
        const [file] = files;
        const sound = must(file !== undefined && 'content' in file ? file : null, 'inline sound');
        const wav = Buffer.from(sound.content);
        const header = wav.toString('latin1', 0, 16);
        expect([files.length, sound.contentType, header.slice(0, 4), header.slice(8)]).toEqual([
          1,
          'audio/wav',
          'RIFF',
          'WAVEfmt ',
        ]);
        expect(wav.readUInt32LE(40)).toBe(wav.length - 44);
        expect(units).toEqual({ inputTokens: 3, outputTokens: 1_290 });
      },
    },
    {
      title: 'an analysis',
      operation: 'generate',
      hasReference: false,
      fields: {
        contents: [{ role: 'user', parts: [INLINE, { text: 'what is this?' }] }],
        systemInstruction: { parts: [{ text: 'be brief' }] },
      },
      run: async (provider, context) =>
        provider.calls?.ANALYSIS?.call(
          { kind: 'ANALYSIS', media: createImage(), prompt: 'what is this?', system: 'be brief' },
          context,
        ),
      check: (answer) =>
        expect(answer).toEqual({
          files: [],
          texts: [expect.stringContaining('image/png')],
          facts: { model: 'gemini-3.5-flash-lite', usage: expect.any(Object) },
          units: { inputTokens: 6, outputTokens: expect.any(Number), cachedTokens: 0 },
        }),
    },
    chatRow({
      title: 'a chat word by word',
      operation: 'stream',
      async run(provider, context) {
        const pieces: ChatPiece[] = [];
        for await (const piece of provider.chatStream?.(CHAT, context) ?? []) pieces.push(piece);
        const said = pieces.flatMap((piece) => ('delta' in piece ? [piece.delta] : []));
        const last = pieces.at(-1);
        const outcome = last !== undefined && 'outcome' in last ? last.outcome : null;
        return outcome?.text === said.join('') ? outcome : null;
      },
    }),
    chatRow({
      title: 'a chat',
      operation: 'generate',
      run: async (provider, context) => provider.chat?.(CHAT, context),
    }),
  ],
};

function chatRow({ title, operation, run }: Pick<ShortRow, 'title' | 'operation' | 'run'>): ShortRow {
  return {
    title,
    operation,
    hasReference: false,
    fields: {
      contents: [{ role: 'user', parts: [{ text: 'what is 2 + 3?' }] }],
      systemInstruction: { parts: [{ text: 'be brief' }] },
      generationConfig: { temperature: 0.5, maxOutputTokens: 200 },
    },
    run,
    check: (answer) =>
      expect(answer).toEqual({
        text: expect.stringContaining('5'),
        model: 'gemini-3.5-flash-lite',
        usage: { inputTokens: expect.any(Number), outputTokens: expect.any(Number) },
      }),
  };
}

/** What the contract suite tries. */
export const rows: readonly ContractRow[] = [gemini];
