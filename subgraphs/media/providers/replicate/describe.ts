import { z } from 'zod';

import type { CallContext, NamedModel, VendorModel } from '../contract/provider.ts';
import type { Exchange } from '../shared/exchange.ts';
import { listOf, text } from '../shared/reader.ts';
import { read, throwRefusal } from './wire.ts';

/** A model as Replicate describes it: the OpenAPI schema of its newest version, or of the one that is named. */

const version = z.object({ id: z.string().regex(/^[\w.-]{1,100}$/), openapi_schema: z.unknown().optional() });
const model = z.object({
  name: z.string(),
  is_official: z.boolean().nullish().catch(null),
  default_example: z.looseObject({ output: z.unknown().optional() }).nullish().catch(null),
  latest_version: version.nullish().catch(null),
});
const named = z.looseObject({ id: text, openapi_schema: z.unknown().optional() });

/** owner/name, or owner/name:version. */
const NAME = /^([A-Za-z0-9][\w.-]*)\/([A-Za-z0-9][\w.-]*)(?::([0-9a-f]{64}))?$/;

/** The description of a model; null when there is none. */
export async function describeModel(
  exchange: Exchange,
  name: string,
  context: CallContext,
): Promise<VendorModel | null> {
  const [, owner, short, wanted] = NAME.exec(name) ?? [];
  if (owner === undefined || owner === 'fal-ai') return null;
  const get = (path: string) =>
    exchange(context, { method: 'GET', path, retry: 'safe', timeoutMs: 15_000, maxBytes: 2 << 20 });
  const answer = await get(`/models/${owner}/${short}`);
  if (answer.status === 404) return null;
  throwRefusal(answer, 'account');
  const found = read(model, answer, 'a model');
  const newest = found.latest_version?.id;
  let schema = found.latest_version?.openapi_schema;
  if (wanted !== undefined) {
    const other = await get(`/models/${owner}/${short}/versions/${wanted}`);
    if (other.status === 404) return null;
    throwRefusal(other, 'account');
    schema = read(named, other, 'a version').openapi_schema;
  }
  // Models of the community are run by their version only.
  const run = wanted ?? (found.is_official === false ? newest : undefined);
  const schemas = z.object({ components: z.object({ schemas: z.record(z.string(), z.unknown()) }) });
  const parts = schemas.safeParse(schema).data?.components.schemas ?? {};
  return {
    name: `${found.name} at Replicate`,
    document: schema,
    input: parts['Input'],
    output: parts['Output'],
    example: found.default_example?.output ?? null,
    ...(run !== undefined && { version: run }),
    source: `api.replicate.com/v1/models/${owner}/${short}`,
  };
}

const hit = z.object({ owner: z.string(), name: z.string(), description: text });
const hits = z.object({ models: listOf(z.object({ model: hit })) });

/** Public models that fit the words. */
export async function findModels(
  exchange: Exchange,
  words: string,
  context: CallContext,
): Promise<readonly NamedModel[]> {
  const path = `/search?${new URLSearchParams({ query: words, limit: '20' }).toString()}`;
  const answer = await exchange(context, {
    method: 'GET',
    path,
    retry: 'safe',
    timeoutMs: 10_000,
    maxBytes: 4 << 20,
  });
  throwRefusal(answer, 'account');
  return read(hits, answer, 'models').models.map(({ model: { owner, name, description } }) => ({
    model: `${owner}/${name}`,
    name: `${name} at Replicate`,
    description: description || null,
  }));
}
