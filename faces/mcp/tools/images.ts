import { z } from 'zod';

import { badInput } from '../../../platform/errors.ts';
import { GenerateImage, type ImageInput } from '../../../rest-compat/documents/media/start.ts';
import { runDocument } from '../../../rest-compat/replies/results.ts';
import type { Catalog } from '../work/catalog.ts';
import { startOnce } from '../work/tasks.ts';
import { FILE_TEXT, file, mediaInput, modelArgument, options, spending, factArgument } from './arguments.ts';
import { SPENDS, type Tool, tool, type ToolAnswer, type ToolScope } from './tool.ts';

/** Images: new ones, and ones made from others. */

/** What both tools take. */
function common(catalog: Catalog) {
  const models = catalog.of('IMAGE');
  const most = Math.max(1, ...models.map(({ maxCount }) => maxCount ?? 1));
  return {
    prompt: z.string().min(1).describe('What to show, or what to change.'),
    model: modelArgument(catalog, 'IMAGE'),
    aspect_ratio: factArgument(models, 'aspectRatios', 'Shape, of those the model takes.'),
    resolution: factArgument(models, 'sizes', 'Size, of those the model takes.'),
    count: z.number().int().min(1).max(most).optional().describe('How many; 1 unless said otherwise.'),
    negative_prompt: z.string().optional().describe('What not to show, where the model takes it.'),
    seed: z.int32().optional().describe('The same seed makes the same image, where the model has seeds.'),
    options,
    ...spending,
  };
}

interface Image {
  readonly prompt: string;
  readonly model?: string | undefined;
  readonly aspect_ratio?: string | undefined;
  readonly resolution?: string | undefined;
  readonly count?: number | undefined;
  readonly negative_prompt?: string | undefined;
  readonly seed?: number | undefined;
  readonly options?: Record<string, unknown> | undefined;
  readonly max_cost?: number | undefined;
  readonly variation?: number | undefined;
}

async function makeImage(
  request: Image,
  scope: ToolScope,
  from: Pick<ImageInput, 'images' | 'mask'> = {},
): Promise<ToolAnswer> {
  const { generator, model } = scope.catalog.find('IMAGE', request.model);
  const { prompt, resolution, count, seed } = request;
  const input = {
    generator,
    model,
    prompt,
    ...from,
    aspectRatio: request.aspect_ratio,
    resolution,
    count,
    seed,
    negativePrompt: request.negative_prompt,
    options: request.options as ImageInput['options'],
  };
  const task = await startOnce(scope, {
    call: ['image', input, request.variation],
    maxCost: request.max_cost,
    estimate: {
      kind: 'IMAGE',
      generator,
      model,
      count,
      resolution,
      text: prompt,
      options: input.options,
    },
    start: async (idempotencyKey) =>
      (await runDocument(scope, GenerateImage, { input, idempotencyKey })).generateImage.id,
  });
  return { task };
}

/** The tools. */
export const imageTools: readonly Tool[] = [
  tool({
    name: 'generate_image',
    title: 'Make an image',
    description:
      'Makes one or more images from a text. Spends money: say max_cost, or ask estimate_cost first. Answers links and a small preview.',
    rateClass: 'start',
    annotations: SPENDS,
    arguments: common,
    run: (input, scope) => makeImage(input, scope),
  }),
  tool({
    name: 'edit_image',
    title: 'Change an image',
    description:
      'Makes an image from one or more others: changes, combines, or paints anew what a mask shows in white. Spends money, as generate_image.',
    rateClass: 'start',
    annotations: SPENDS,
    arguments: (catalog) => ({
      images: z
        .array(file)
        .min(1)
        .max(16)
        .describe(`The images, the one to change first: each ${FILE_TEXT}.`),
      mask: file.optional().describe('A mask of the first: white is drawn anew. For models that have masks.'),
      ...common(catalog),
    }),
    run({ images, mask, ...request }, scope) {
      const model = scope.catalog.find('IMAGE', request.model ?? defaultEditor(scope.catalog, mask));
      return makeImage({ ...request, model: model.id }, scope, {
        images: images.map((image) => mediaInput('images', image)),
        ...(mask !== undefined && { mask: mediaInput('mask', mask) }),
      });
    },
  }),
];

/** The first model that takes images, and a mask where there is one. */
function defaultEditor(catalog: Catalog, mask: string | undefined): string {
  const needed = mask === undefined ? ['images'] : ['images', 'mask'];
  const model = catalog.of('IMAGE').find(({ inputs }) => needed.every((name) => inputs.includes(name)));
  if (model === undefined) throw badInput('model', 'no model here changes images');
  return model.id;
}
