import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';
import { graphqlClient, GENERATE } from './graphql-client.ts';

/** Options in the vendors' own names: checked against the model's schema, kept, and sent as they are. */

let kiln: KilnUnderTest;
let asking: ReturnType<typeof graphqlClient>;
beforeAll(async () => {
  kiln = await startKiln();
  await kiln.control('latency', { queuedMs: 0, runningMs: 0 });
  asking = graphqlClient(kiln.url);
});
afterAll(() => kiln.close());

const picture = { generator: 'union', model: 'gpt-image-2', prompt: 'a fox' };
const refusal = (options: unknown, input: object = {}) =>
  asking.refusal(GENERATE, { input: { ...picture, ...input, options } });

/** The bodies that the stand-in of a vendor was sent with this prompt. */
async function sent(wire: string, prompt: string): Promise<readonly object[]> {
  const answer = await fetch(`${kiln.sandboxUrl}/_control/requests`);
  const all = (await answer.json()) as readonly { readonly wire: string; readonly body: object }[];
  return all
    .filter((one) => one.wire === wire && JSON.stringify(one.body).includes(prompt))
    .map(({ body }) => body);
}

describe('options', () => {
  it('arrive at the vendor as they were sent, and are kept with the task', async () => {
    const options = {
      quality: 'low',
      background: 'transparent',
      output_format: 'webp',
      output_compression: 40,
    };
    const prompt = 'a fox with four options';
    const { generateImage } = await asking.ok(GENERATE, { input: { ...picture, prompt, options } });
    expect(await asking.ended(generateImage.id)).toMatchObject({ state: 'SUCCEEDED' });
    expect(await sent('openai', prompt)).toEqual([
      { model: 'gpt-image-2', prompt, n: 1, size: '1024x1024', ...options },
    ]);
    const { task } = await asking.ok(
      'query ($id: ID!) { task(id: $id) { input { options } } }',
      generateImage,
    );
    expect(task.input.options).toEqual({ options });
  });

  it('that a model does not have are refused with what it has, and who has them', async () => {
    expect(await refusal({ style: 'vivid' })).toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'options.style',
      message: expect.stringMatching(
        /^options\.style: is not taken by this model; it takes quality, background, output_format, /,
      ),
    });
    expect(await refusal({ quality: 'max' })).toMatchObject({
      field: 'options.quality',
      message: expect.stringMatching(
        /^options\.quality: must be one of auto, low, medium, high; models that take this request: gpt-image-2\.5-flare \(.*union/,
      ),
    });
    expect(await refusal({ output_compression: 101 })).toMatchObject({
      field: 'options.output_compression',
      message: expect.stringContaining('must be a whole number from 0 to 100'),
    });
  });

  it('that are no object, or too large, are refused', async () => {
    expect(await refusal([1])).toMatchObject({ code: 'BAD_USER_INPUT', field: 'options' });
    expect(await refusal({ user: 'x'.repeat(32_001) })).toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'options',
    });
  });

  it('belong to what an idempotency key stands for, whatever their order', async () => {
    const start = (options: object) =>
      asking.run(GENERATE, { input: { ...picture, options }, key: 'options-of-a-key' });
    const first = await start({ quality: 'low', background: 'opaque' });
    const again = await start({ background: 'opaque', quality: 'low' });
    expect(again.data.generateImage.id).toBe(first.data.generateImage.id);
    const other = await start({ quality: 'medium', background: 'opaque' });
    expect(other.errors?.[0]?.extensions).toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' });
  });
});
