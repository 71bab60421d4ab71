import { expect } from 'vitest';

import type { CallContext, Outcome, Provider } from '../../../subgraphs/media/providers/provider.ts';
import { imageRequest, type ContractRow, type ImageRequest } from '../row.ts';
import { readFixture } from '../wire-shape.ts';
import { isPng, must, picture, SECRET } from '../world.ts';

/** OpenAI and whatever is compatible: chat, images from words and from images. */
export const openai: ContractRow = {
  provider: 'openai',
  basePath: '/openai/v1',
  headers: { authorization: `Bearer ${SECRET}` },
  fixture: readFixture('openai'),
  jobs: [],
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
        model: 'gpt-image-1',
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
      run: (provider, context) => callImage(provider, context, { images: [picture(), picture()] }),
      check: (answer) => expectImages(answer as Outcome, 1),
    },
    {
      title: 'a chat',
      operation: 'chat',
      hasReference: false,
      fields: {
        model: 'gpt-4o-mini',
        messages: [
          { role: 'system', content: 'be brief' },
          { role: 'user', content: 'what is 2 + 3?' },
        ],
        temperature: 0.5,
        max_completion_tokens: 200,
      },
      run: async (provider, context) =>
        provider.chat?.(
          {
            messages: [{ role: 'user', content: 'what is 2 + 3?' }],
            system: 'be brief',
            temperature: 0.5,
            maxTokens: 200,
          },
          context,
        ),
      check: (answer) =>
        expect(answer).toEqual({
          text: expect.stringContaining('5'),
          model: 'gpt-4o-mini',
          usage: { inputTokens: expect.any(Number), outputTokens: expect.any(Number) },
        }),
    },
  ],
};

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
    const inline = must('content' in file ? file : null, 'inline picture');
    expect([isPng(inline.content), inline.contentType]).toEqual([true, 'image/png']);
  }
}
