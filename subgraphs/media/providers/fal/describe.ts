import { z } from 'zod';

import type { CallContext, VendorModel } from '../contract/provider.ts';
import type { Exchange } from '../shared/exchange.ts';
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

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) =>
      typeof inner === 'object' && inner !== null && Object.hasOwn(inner, name)
        ? (inner as Readonly<Record<string, unknown>>)[name]
        : undefined,
    value,
  );
}
