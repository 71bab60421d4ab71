import { z } from 'zod';

import type { CallContext, NamedModel, VendorModel } from '../contract/provider.ts';
import type { Exchange } from '../shared/exchange.ts';
import { listOf, text } from '../shared/reader.ts';
import { read, throwRefusal } from './wire.ts';

/** A model as fal describes it: the OpenAPI document of its endpoint. It is public, so no key is sent for it. */

const part = z.record(z.string(), z.unknown()).catch({});
const document = z.looseObject({ paths: z.record(z.string(), part), info: part });

/** An endpoint: fal-ai/flux/dev, bytedance/seedance-2.5/text-to-video. */
const NAME = /^[A-Za-z0-9][\w.-]*(\/[A-Za-z0-9][\w.-]*){1,6}$/;

/** The description of an endpoint; null when there is none. */
export async function describeModel(
  exchange: Exchange,
  name: string,
  context: CallContext,
): Promise<VendorModel | null> {
  if (!NAME.test(name)) return null;
  const { connection } = context;
  const baseUrl = connection.endpoints?.['schema'] ?? 'https://fal.ai';
  const path = `/api/openapi/queue/openapi.json?endpoint_id=${encodeURIComponent(name)}`;
  const answer = await exchange(
    { ...context, connection: { ...connection, baseUrl, pathPrefix: '', headers: {} } },
    { method: 'GET', path, retry: 'safe', timeoutMs: 15_000, maxBytes: 2 << 20, mayBePage: true },
  );
  if (answer.json === undefined || answer.status === 404 || answer.status === 422) return null;
  throwRefusal(answer, 'file');
  const found = read(document, answer, 'the description of a model');
  const { title } = found.info;
  return {
    name: typeof title === 'string' ? title.replace(/^Queue OpenAPI for /, '') : name,
    document: answer.json,
    input: at(found.paths[`/${name}`], ['post', 'requestBody', 'content', 'application/json', 'schema']),
    output: at(found.paths[`/${name}/requests/{request_id}`], [
      'get',
      'responses',
      '200',
      'content',
      'application/json',
      'schema',
    ]),
    example: null,
    source: `fal.ai/api/openapi/queue/openapi.json?endpoint_id=${name}`,
  };
}

const about = z.object({ display_name: text, description: text }).nullish().catch(null);
const list = z.object({ models: listOf(z.object({ endpoint_id: z.string(), metadata: about })) });

/** Endpoints that fit the words, of those that fal still runs; this list is public too. */
export async function findModels(
  exchange: Exchange,
  words: string,
  context: CallContext,
): Promise<readonly NamedModel[]> {
  const { connection } = context;
  const baseUrl = connection.endpoints?.['api'] ?? 'https://api.fal.ai';
  const path = `/v1/models?${new URLSearchParams({ q: words, status: 'active', limit: '20' }).toString()}`;
  const answer = await exchange(
    { ...context, connection: { ...connection, baseUrl, pathPrefix: '', headers: {} } },
    { method: 'GET', path, retry: 'safe', timeoutMs: 10_000, maxBytes: 2 << 20 },
  );
  throwRefusal(answer, 'file');
  return read(list, answer, 'a list of models').models.map(({ endpoint_id: model, metadata }) => ({
    model,
    name: metadata?.display_name || model,
    description: metadata?.description || null,
  }));
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, name)
        ? (inner as Readonly<Record<string, unknown>>)[name]
        : undefined,
    value,
  );
}
