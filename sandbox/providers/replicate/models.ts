import { createHash } from 'node:crypto';

import { z } from 'zod';

import { json } from '../../http/answer.ts';
import type { WireRoute } from '../../http/wire.ts';
import { address, prompt, seed, shapes, type ReplicateModel, NEWER_MODELS } from './newer-models.ts';

/** Every model there is. */
export const MODELS: readonly ReplicateModel[] = [
  ...NEWER_MODELS,
  {
    name: 'black-forest-labs/flux-schnell',
    operation: 'image',
    answersList: true,
    input: z.looseObject({
      prompt,
      aspect_ratio: z.enum(shapes).default('1:1'),
      num_outputs: z.number().int().min(1).max(4).default(1),
      seed,
      num_inference_steps: z.number().int().min(1).max(4).optional(),
      output_format: z.enum(['webp', 'jpg', 'png']).optional(),
      output_quality: z.number().int().min(0).max(100).optional(),
      go_fast: z.boolean().optional(),
    }),
  },
  {
    name: 'black-forest-labs/flux-kontext-pro',
    operation: 'image',
    answersList: false,
    input: z.looseObject({
      prompt,
      input_image: address.optional(),
      aspect_ratio: z.enum([...shapes, '2:1', '1:2', 'match_input_image']).default('match_input_image'),
      seed,
    }),
  },
  {
    name: 'black-forest-labs/flux-fill-pro',
    operation: 'image',
    answersList: false,
    input: z.looseObject({ prompt, image: address, mask: address.optional(), seed }),
  },
  {
    name: 'google/nano-banana',
    operation: 'image',
    answersList: false,
    input: z.looseObject({
      prompt,
      image_input: z.array(address).default([]),
      aspect_ratio: z.enum([...shapes, 'match_input_image']).default('match_input_image'),
    }),
  },
  {
    name: 'bytedance/seedance-1-lite',
    operation: 'video',
    answersList: false,
    input: z.looseObject({
      prompt,
      image: address.optional(),
      last_frame_image: address.optional(),
      duration: z.number().int().min(2).max(12).default(5),
      resolution: z.enum(['480p', '720p', '1080p']).default('720p'),
      aspect_ratio: z.enum(['16:9', '4:3', '1:1', '3:4', '9:16', '21:9', '9:21']).default('16:9'),
      seed,
      camera_fixed: z.boolean().optional(),
      reference_images: z.array(address).max(4).optional(),
    }),
  },
  {
    name: 'kwaivgi/kling-v2.5-turbo-pro',
    operation: 'video',
    answersList: false,
    input: z.looseObject({
      prompt,
      negative_prompt: z.string().optional(),
      start_image: address.optional(),
      end_image: address.optional(),
      duration: z.literal([5, 10]).default(5),
      aspect_ratio: z.enum(['16:9', '9:16', '1:1']).default('16:9'),
    }),
  },
  {
    // No client names it: what it takes is told by its description alone.
    name: 'lantern-lab/paper-film',
    operation: 'video',
    answersList: false,
    isOfCommunity: true,
    input: z.looseObject({
      prompt,
      start_image: address.optional(),
      duration: z.number().int().min(2).max(6).default(4),
      aspect_ratio: z.enum(['16:9', '9:16']).default('16:9'),
      paper: z.enum(['washi', 'kraft']).default('washi'),
      flicker: z.number().min(0).max(1).default(0.2),
    }),
  },
];

/** The hash of a model's only version. */
export function toVersion({ name }: ReplicateModel): string {
  return createHash('sha256').update(`version of ${name}`).digest('hex');
}

/** GET /v1/models/{owner}/{name}, and its version. */
export function modelRoutes(): WireRoute[] {
  const search: WireRoute = {
    method: 'GET',
    path: '/v1/search',
    operation: 'search',
    handle: ({ query, baseUrl }) => {
      const words = (query.get('query') ?? '').toLowerCase().replaceAll(' ', '-');
      const found = MODELS.filter(({ name }) => name.includes(words));
      return json({
        query: words,
        models: found.map((model) => ({ model: modelJson(model, baseUrl), metadata: { tags: [] } })),
        collections: [],
        pages: [],
      });
    },
  };
  const models = MODELS.flatMap((model): WireRoute[] => [
    {
      method: 'GET',
      path: `/v1/models/${model.name}`,
      operation: 'model',
      handle: ({ baseUrl }) => json(modelJson(model, baseUrl)),
    },
    {
      method: 'GET',
      path: `/v1/models/${model.name}/versions/${toVersion(model)}`,
      operation: 'model',
      handle: () => json(versionJson(model)),
    },
  ]);
  return [search, ...models];
}

function versionJson(model: ReplicateModel): object {
  return {
    id: toVersion(model),
    created_at: '2026-01-01T00:00:00Z',
    cog_version: '0.0.0',
    openapi_schema: toOpenapiSchema(model),
  };
}

function modelJson(model: ReplicateModel, baseUrl: string): object {
  const [owner, name] = model.name.split('/');
  return {
    url: `${baseUrl}/${model.name}`,
    owner,
    name,
    description: 'drawn by local-studio',
    visibility: 'public',
    run_count: 0,
    is_official: model.isOfCommunity !== true,
    default_example: null,
    latest_version: versionJson(model),
  };
}

/** What a version takes and answers. */
interface VersionSchema {
  readonly input: z.ZodType<Record<string, unknown>>;
  /** Whether its output is a list of addresses. */
  readonly answersList: boolean;
}

/** The OpenAPI schema of a model's version: choices are components of their own, as Replicate writes them. */
function toOpenapiSchema({ input, answersList }: VersionSchema): object {
  const { properties = {}, required = [] } = z.toJSONSchema(input, { io: 'input' });
  const written = Object.entries(properties).map(([name, schema], index) => {
    const order = { 'x-order': index };
    if (typeof schema === 'boolean' || schema.enum === undefined)
      return { name, schema: { ...Object(schema), ...order } };
    const { enum: words, type, ...rest } = schema;
    const choice = { title: name, type, enum: words, description: 'An enumeration.' };
    return { name, choice, schema: { ...rest, allOf: [{ $ref: `#/components/schemas/${name}` }], ...order } };
  });
  const choices = written.flatMap(({ name, choice }) => (choice === undefined ? [] : [[name, choice]]));
  const address = { type: 'string', format: 'uri' };
  return {
    openapi: '3.0.2',
    info: { title: 'Cog', version: '0.1.0' },
    paths: {},
    components: {
      schemas: {
        ...Object.fromEntries(choices),
        Input: {
          type: 'object',
          title: 'Input',
          required,
          properties: Object.fromEntries(written.map(({ name, schema }) => [name, schema])),
        },
        Output: { title: 'Output', ...(answersList ? { type: 'array', items: address } : address) },
      },
    },
  };
}
