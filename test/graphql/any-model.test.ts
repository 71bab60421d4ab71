import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { mediaDatabase } from '../../subgraphs/media/database/database.ts';
import { until } from '../kit/clients/requests.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';
import { graphqlClient, GENERATE } from './graphql-client.ts';

/** Models of fal and Replicate that Kiln's code and catalog never name: described by their vendors, then used like any other. */

const FAL = 'fal-ai/paper-cut/v2';
const REPLICATE = 'lantern-lab/paper-film';
const VIDEO = 'mutation ($input: VideoInput!) { generateVideo(input: $input) { id } }';
const MODEL =
  'query ($model: String!) { model(generator: "custom", model: $model) { name kinds inputs needs aspectRatios durations maxCount maxPrompt isDefault optionsSchema prices { currency } fetchedAt } }';
const TASKS = '{ tasks(first: 100) { edges { node { id } } } }';

async function started(settings: Readonly<Record<string, string>> = {}) {
  const kiln = await startKiln({ isQuick: true, settings });
  return { kiln, asking: graphqlClient(kiln.url) };
}

/** What a stand-in was asked for, by its path. */
async function requests(
  kiln: KilnUnderTest,
  wire: string,
  path: string,
): Promise<readonly { body: object }[]> {
  const answer = await fetch(`${kiln.sandboxUrl}/_control/requests`);
  const all = (await answer.json()) as readonly { wire: string; path: string; body: object }[];
  return all.filter((one) => one.wire === wire && one.path.includes(path));
}

describe('any model of a vendor', () => {
  let kiln: KilnUnderTest;
  let asking: ReturnType<typeof graphqlClient>;
  beforeAll(async () => {
    ({ kiln, asking } = await started());
  });
  afterAll(() => kiln.close());

  it('of fal is used by its name, with typed inputs and options in its own fields', async () => {
    const options = { paper: 'kraft', layers: 3, light: { angle: 90 } };
    const input = { generator: 'custom', model: FAL, prompt: 'a crane', aspectRatio: '16:9', count: 2 };
    const { generateImage } = await asking.ok(GENERATE, {
      input: { ...input, seed: 5, outputFormat: 'jpg', options },
    });
    const task = await asking.ended(generateImage.id);
    expect(task).toMatchObject({ state: 'SUCCEEDED', attempts: [{ provider: 'fal', model: FAL }] });
    expect(task.outputs).toHaveLength(2);
    expect(await requests(kiln, 'fal', FAL)).toMatchObject([
      {
        body: {
          prompt: 'a crane',
          image_size: 'landscape_16_9',
          num_images: 2,
          seed: 5,
          output_format: 'jpeg',
          ...options,
        },
      },
    ]);
  });

  it('of Replicate is run by its version, from an image too', async () => {
    const input = { generator: 'custom', model: REPLICATE, prompt: 'a lantern rises', duration: 3 };
    const { generateVideo } = await asking.ok(VIDEO, { input: { ...input, options: { flicker: 0.4 } } });
    expect(await asking.ended(generateVideo.id)).toMatchObject({ state: 'SUCCEEDED' });
    const [sent] = await requests(kiln, 'replicate', '/v1/predictions');
    expect(sent).toMatchObject({
      body: {
        version: expect.stringMatching(/^[0-9a-f]{64}$/),
        input: { prompt: 'a lantern rises', duration: 3, flicker: 0.4 },
      },
    });
  });

  it('is found by words among the names of both vendors', async () => {
    const FIND =
      'query ($words: String!) { findModels(words: $words) { generator provider model name description } }';
    const { findModels } = await asking.ok(FIND, { words: 'Paper' });
    expect(findModels).toEqual([
      {
        generator: 'custom',
        provider: 'fal',
        model: FAL,
        name: 'paper-cut v2',
        description: 'drawn by local-studio: images',
      },
      {
        generator: 'custom',
        provider: 'replicate',
        model: REPLICATE,
        name: 'paper-film at Replicate',
        description: 'drawn by local-studio',
      },
    ]);
    expect(await asking.refusal(FIND, { words: ' ' })).toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'words',
    });
  });

  it('tells what it takes, when that was read, and is nobody’s default', async () => {
    const { model } = await asking.ok(MODEL, { model: FAL });
    expect(model).toMatchObject({
      kinds: ['IMAGE'],
      inputs: ['prompt', 'aspectRatio', 'seed', 'count', 'outputFormat'],
      needs: ['prompt'],
      aspectRatios: ['1:1', '4:3', '3:4', '16:9', '9:16'],
      maxCount: 2,
      maxPrompt: 800,
      isDefault: false,
      prices: null,
    });
    expect(Date.now() - Date.parse(model.fetchedAt)).toBeLessThan(600_000);
    expect(Object.keys(model.optionsSchema.properties)).toEqual([
      'paper',
      'layers',
      'light',
      'output_format',
    ]);
    expect(model.optionsSchema.properties.paper).toEqual({
      type: 'string',
      enum: ['washi', 'kraft', 'vellum'],
      default: 'washi',
      description: 'What it is cut from.',
    });
    const film = await asking.ok(MODEL, { model: REPLICATE });
    expect(film.model).toMatchObject({ kinds: ['VIDEO'], durations: [4, 2, 3, 5, 6] });
  });

  it.each([
    [{ options: { paper: 'silk' } }, 'options.paper', 'must be one of washi, kraft, vellum'],
    [{ options: { light: { angle: 400 } } }, 'options.light.angle', 'must be a number from 0 to 360'],
    [{ options: { glitter: true } }, 'options.glitter', 'it takes paper, layers, light, output_format'],
    [{ count: 3 }, 'count', 'must be from 1 to 2'],
  ])('refuses %j before anything is stored', async (more, field, message) => {
    const before = await asking.ok(TASKS);
    const input = { generator: 'custom', model: FAL, prompt: 'a crane', ...more };
    expect(await asking.refusal(GENERATE, { input })).toMatchObject({
      code: 'BAD_USER_INPUT',
      field,
      message: expect.stringContaining(message),
    });
    expect(await asking.ok(TASKS)).toEqual(before);
  });

  it('is described once, and again when it is asked for or its vendor has refused an input', async () => {
    const read = async () => (await asking.ok(MODEL, { model: FAL })).model.fetchedAt as string;
    const before = await read();
    expect(await read()).toBe(before);
    const REFRESH =
      'mutation ($model: String!) { refreshModel(generator: "custom", model: $model) { fetchedAt } }';
    const { refreshModel } = await asking.ok(REFRESH, { model: FAL });
    expect(Date.parse(refreshModel.fetchedAt)).toBeGreaterThan(Date.parse(before));
    expect(await read()).toBe(refreshModel.fetchedAt);
    const rows = () =>
      mediaDatabase(kiln.runtime.database)
        .selectFrom('media.fetchedModels')
        .select(['model', 'stale'])
        .where('model', '=', FAL)
        .execute();
    expect(await rows()).toEqual([{ model: FAL, stale: false }]);
    const input = {
      generator: 'custom',
      model: FAL,
      prompt: 'a crane',
      options: { paper: 'vellum', layers: 6 },
    };
    const { generateImage } = await asking.ok(GENERATE, { input });
    expect(await asking.ended(generateImage.id)).toMatchObject({ error: { code: 'INVALID_INPUT' } });
    await until(rows, ([row]) => row?.stale === true);
  });

  it('costs nothing in the sandbox, so that a budget that takes no unknown prices lets it through', async () => {
    const CREATE =
      'mutation { createBudget(scope: TOTAL, input: { name: "known prices", amount: 100, refusesUnknownPrices: true }) { id } }';
    const { createBudget } = await asking.ok(CREATE);
    const input = { generator: 'custom', model: FAL, prompt: 'a crane' };
    const { generateImage } = await asking.ok(GENERATE, { input });
    expect(await asking.ended(generateImage.id)).toMatchObject({ error: null });
    await asking.ok('mutation ($id: ID!) { deleteBudget(id: $id) { id } }', createBudget);
  });

  it('that no vendor has is refused like any unknown one', async () => {
    const input = { generator: 'custom', model: 'fal-ai/no-such/model', prompt: 'a crane' };
    expect(await asking.refusal(GENERATE, { input })).toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'model',
    });
    expect(await asking.ok(MODEL, { model: 'nobody/nothing' })).toEqual({ model: null });
  });

  it('whose vendor does not answer is refused for now', async () => {
    await kiln.control('faults', { wire: 'fal-rest', operation: 'schema', fault: 'server-error', times: 9 });
    const input = { generator: 'custom', model: 'fal-ai/paper-boat/v1', prompt: 'a boat' };
    expect(await asking.refusal(GENERATE, { input })).toMatchObject({
      code: 'UNAVAILABLE',
      message: 'model: fal does not describe it now; try again later',
    });
  });

  it('is found at the vendors that answer; a search that finds nothing while one is silent fails', async () => {
    await kiln.control('faults', { wire: 'fal', operation: 'models', fault: 'server-error', times: 99 });
    const find = 'query ($words: String!) { findModels(words: $words) { provider } }';
    expect(await asking.ok(find, { words: 'paper-f' })).toEqual({ findModels: [{ provider: 'replicate' }] });
    expect(await asking.refusal(find, { words: 'paper-b' })).toMatchObject({ code: 'UNAVAILABLE' });
  });
});

describe('ANY_MODEL', () => {
  it('names the models that may be used by patterns', async () => {
    const { kiln, asking } = await started({ ANY_MODEL: 'fal-ai/paper-*, nobody/*' });
    try {
      expect((await asking.ok(MODEL, { model: FAL })).model.kinds).toEqual(['IMAGE']);
      const input = { generator: 'custom', model: REPLICATE, prompt: 'a lantern' };
      expect(await asking.refusal(VIDEO, { input })).toMatchObject({
        code: 'BAD_USER_INPUT',
        field: 'model',
        message: 'model: is not among the models that are allowed here',
      });
    } finally {
      await kiln.close();
    }
  });

  it('off leaves the models of the catalog', async () => {
    const { kiln, asking } = await started({ ANY_MODEL: 'off' });
    try {
      const input = { generator: 'custom', model: FAL, prompt: 'a crane' };
      expect(await asking.refusal(GENERATE, { input })).toMatchObject({
        field: 'model',
        message: expect.stringContaining("is not one of this generator's models"),
      });
    } finally {
      await kiln.close();
    }
  });
});
