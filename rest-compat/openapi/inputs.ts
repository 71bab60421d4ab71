import { headersTakenBy } from '../route/headers.ts';
import { namesOf } from '../route/names.ts';
import type { Param, Params, ParamType } from '../route/param.ts';
import type { Route } from '../route/route.ts';
import type { JsonSchema, OpenApiOperation, OpenApiParameter } from '../schemas/openapi-types.ts';

/** The parameters and the request body of an operation. */

/** Parameters of the path, of the query and of the headers that the operation reads. */
export function parametersOf(route: Route): readonly OpenApiParameter[] {
  const declared = Object.entries(route.params).flatMap(([name, param]) =>
    param.in === 'query' || param.in === 'path'
      ? [{ name, in: param.in, required: param.required, schema: schemaOf(param) } as const]
      : [],
  );
  const ours = headersTakenBy(route.document);
  const headers = [...ours, ...(route.requestHeaders ?? [])].map(
    ({ name, description }) =>
      ({ name, in: 'header', required: false, schema: { type: 'string' }, description }) as const,
  );
  return [...declared, ...headers];
}

/** The request body; undefined when there is none. */
export function bodyOf(route: Route): OpenApiOperation['requestBody'] {
  const { body } = route;
  if (body === undefined) return undefined;
  if (body.type === 'raw') return { required: body.required, content: { '*/*': { schema: {} } } };
  const fields = Object.entries(route.params).filter(
    ([, { in: source }]) => source !== 'query' && source !== 'path',
  );
  const required = fields.filter(([, param]) => param.required).map(([name]) => name);
  const schema = {
    type: 'object',
    properties: Object.fromEntries(fields.map(([name]) => [name, fieldSchema(route.params, name)])),
    ...(required.length === 0 ? {} : { required }),
    ...oneOfSchema(body.oneOf),
    ...(body.additionalProperties === true ? { additionalProperties: true } : {}),
  };
  return { required: body.required, content: { [body.type]: { schema } } };
}

/** At least one field of each group of alternatives. */
function oneOfSchema(groups: readonly (readonly string[])[] = []): JsonSchema {
  if (groups.length === 0) return {};
  return { allOf: groups.map((names) => ({ anyOf: names.map((name) => ({ required: [name] })) })) };
}

function fieldSchema(params: Params, name: string): JsonSchema {
  const aliases = namesOf(params, name).slice(1);
  const param = params[name];
  const schema = param === undefined ? {} : schemaOf(param);
  return aliases.length === 0 ? schema : { ...schema, 'x-aliases': aliases };
}

const types: Readonly<Record<ParamType, JsonSchema>> = {
  string: { type: 'string' },
  url: { type: 'string', format: 'uri' },
  'string|null': { type: ['string', 'null'] },
  integer: { type: 'integer' },
  number: { type: 'number' },
  boolean: { type: 'boolean' },
  json: { type: 'string', contentMediaType: 'application/json' },
  object: { type: 'object', additionalProperties: true },
  array: { type: 'array', items: { type: 'string' } },
  file: { type: 'string', contentMediaType: 'application/octet-stream' },
  'link-or-file': {
    anyOf: [
      { type: 'string', format: 'uri' },
      { type: 'string', contentMediaType: 'application/octet-stream' },
    ],
  },
};

function schemaOf(param: Param<unknown>): JsonSchema {
  return {
    ...types[param.type],
    ...(param.fallback === undefined ? {} : { default: param.fallback }),
    ...(param.minimum === undefined ? {} : { minimum: param.minimum }),
    ...(param.maximum === undefined ? {} : { maximum: param.maximum }),
    ...(param.clamp === undefined ? {} : { 'x-moved-into': param.clamp }),
    ...(param.enum === undefined ? {} : { enum: param.enum }),
    ...(param.known === undefined ? {} : { 'x-known-values': param.known }),
    ...(param.accepts === undefined ? {} : { 'x-accepted-types': param.accepts }),
    ...(param.extension === true ? { 'x-extension': true } : {}),
  };
}
