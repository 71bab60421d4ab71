import { expect } from 'vitest';

import {
  imageRequest,
  type ContractRow,
  type ImageRequest,
  type ShortRow,
} from '../../../../test/providers/contract/row.ts';
import { readFixture } from '../../../../test/providers/contract/wire-shape.ts';
import { isPng, must, createImage, SECRET } from '../../../../test/providers/environment/environment.ts';
import type { CallContext, ChatPiece, Outcome, Provider } from '../contract/provider.ts';

const SPEECH = {
  kind: 'SPEECH',
  text: 'This is a test.',
  voiceId: 'alloy',
  speed: 1.25,
  emotion: 'calm',
} as const;

const CHAT = {
  messages: [{ role: 'user', content: 'what is 2 + 3?' }],
  system: 'be brief',
  temperature: 0.5,
  maxTokens: 200,
};

/** OpenAI and whatever is compatible: chat, images from words and from images. */
const openai: ContractRow = {
  provider: 'openai',
  basePath: '/openai/v1',
  headers: { authorization: `Bearer ${SECRET}` },
  fixture: readFixture(new URL('wire.fixture.json', import.meta.url)),
  jobs: [
    {
      kind: 'VIDEO',
      operation: 'videos',
      referenceField: { header: 'idempotency-key' },
      request: {
        kind: 'VIDEO',
        prompt: 'a lighthouse',
        negativePrompt: 'people',
        firstFrame: createImage(),
        lastFrame: undefined,
        aspectRatio: '9:16',
        resolution: undefined,
        duration: 4,
        seed: undefined,
      },
      fields: {
        model: 'sora-2',
        // Forms have CRLF where texts have line ends.
        prompt: expect.stringMatching(/^a lighthouse\s+Avoid: people$/),
        size: '720x1280',
        seconds: '4',
        input_reference: expect.any(File),
      },
      operations: {
        status: 'video',
        list: 'none',
        cancel: 'none',
        download: 'content',
        erase: 'deleteVideo',
      },
      results: { type: 'mp4', needsKey: true, isLasting: true, isHidden: true },
      unknownState: { body: { id: 'video_1', object: 'video', status: 'a_new_word', progress: 61 } },
      outcome: { files: 1, texts: 0 },
    },
  ],
  short: [
    {
      title: 'an image from words',
      operation: 'images',
      hasReference: true,
      fields: {
        prompt: 'a lighthouse\n\nAvoid: people',
        size: '1536x1024',
        n: 2,
        output_format: 'png',
        model: 'gpt-image-2',
      },
      run: (provider, context) =>
        callImage(provider, context, { aspectRatio: '16:9', negativePrompt: 'people', count: 2 }),
      check: (answer) => expectImages(answer as Outcome, 2),
    },
    {
      title: 'an image from images',
      operation: 'edits',
      hasReference: true,
      fields: { prompt: 'a lighthouse', size: '1024x1024', n: '1' },
      run: (provider, context) => callImage(provider, context, { images: [createImage(), createImage()] }),
      check: (answer) => expectImages(answer as Outcome, 1),
    },
    {
      title: 'speech',
      operation: 'speech',
      hasReference: true,
      isFile: true,
      fields: {
        model: 'gpt-4o-mini-tts',
        input: 'This is a test.',
        voice: 'alloy',
        response_format: 'mp3',
        speed: 1.25,
        instructions: 'Speak in a calm tone.',
      },
      run: async (provider, context) => provider.calls?.SPEECH?.call(SPEECH, context),
      check: (answer) => {
        const { files } = answer as Outcome;
        const [file] = files;
        const sound = must(file !== undefined && 'content' in file ? file : null, 'sound');
        expect([files.length, sound.contentType, sound.content.length > 1_000]).toEqual([
          1,
          'audio/mpeg',
          true,
        ]);
      },
    },
    chatRow({
      title: 'a chat word by word',
      more: { stream: true, stream_options: { include_usage: true } },
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
      run: async (provider, context) => provider.chat?.(CHAT, context),
    }),
  ],
};

function chatRow({
  title,
  more = {},
  run,
}: Pick<ShortRow, 'title' | 'run'> & { readonly more?: object }): ShortRow {
  return {
    title,
    operation: 'chat',
    hasReference: false,
    fields: {
      model: 'gpt-4o-mini',
      messages: [{ role: 'system', content: 'be brief' }, ...CHAT.messages],
      temperature: 0.5,
      max_completion_tokens: 200,
      ...more,
    },
    run,
    check: (answer) =>
      expect(answer).toEqual({
        text: expect.stringContaining('5'),
        model: 'gpt-4o-mini',
        usage: { inputTokens: expect.any(Number), outputTokens: expect.any(Number) },
      }),
  };
}

async function callImage(
  provider: Provider,
  context: CallContext & { readonly reference: string },
  change: Partial<ImageRequest>,
): Promise<unknown> {
  return provider.calls?.IMAGE?.call(imageRequest(change), context);
}

function expectImages({ files, texts }: Outcome, count: number): void {
  expect(texts).toEqual([]);
  expect(files).toHaveLength(count);
  for (const file of files) {
    const inline = must('content' in file ? file : null, 'inline image');
    expect([isPng(inline.content), inline.contentType]).toEqual([true, 'image/png']);
  }
}

/** What the contract suite tries. */
export const rows: readonly ContractRow[] = [openai];
