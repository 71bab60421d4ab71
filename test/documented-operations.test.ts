import { readFile } from 'node:fs/promises';

import { Supergraph } from '@apollo/federation-internals';
import { describe, expect, it } from 'vitest';

import { buildOpenApi } from '../rest-compat/openapi.ts';
import type { JsonSchema, OpenApiOperation } from '../rest-compat/openapi.ts';
import type { Param, Params } from '../rest-compat/params.ts';
import type { Route } from '../rest-compat/route.ts';
import { sections } from '../rest-compat/tables.ts';
import { validateRoutes } from '../rest-compat/validate-routes.ts';

/** The documented operations as data, against the tables and against the OpenAPI documents made of them. */

interface Field {
  readonly name: string;
  readonly in?: string;
  readonly type: string;
  readonly required: boolean;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly string[];
  readonly known?: readonly string[];
  /** For people. */
  readonly note?: string;
}

interface Documented {
  readonly service: 'media' | 'workflow';
  readonly section: string;
  readonly method: string;
  readonly path: string;
  readonly deprecated: boolean;
  readonly params: readonly Field[];
  readonly body?: {
    readonly type: string;
    readonly required: boolean;
    readonly fields: readonly Field[];
    readonly additionalProperties?: boolean;
    readonly oneOf?: readonly (readonly string[])[];
    /** Media types that a file part may have, in words. */
    readonly format?: string;
  };
  readonly answers: readonly number[];
}

const documented = JSON.parse(
  await readFile(new URL('documented-operations.json', import.meta.url), 'utf8'),
) as readonly Documented[];

const keyOf = ({ method, path }: { method: string; path: string }): string => `${method} ${path}`;
const routes = new Map(
  sections.flatMap((section) => section.routes.map((route) => [keyOf(route), route] as const)),
);
/** What we have added to the documents does not count here. */
const documentedRoutes = [...routes.values()].filter(({ extension }) => extension !== true);
const sectionOf = new Map(
  sections.flatMap(({ title, routes }) => routes.map((route) => [keyOf(route), title] as const)),
);

function routeOf(operation: Documented): Route {
  const route = routes.get(keyOf(operation));
  if (route === undefined) throw new Error(`no route for ${keyOf(operation)}`);
  return route;
}

/** Only what was said: `undefined` members go. */
function said(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));
}

function fieldOf([name, param]: [string, Param<unknown>], withPlace: boolean): object {
  const { type, required, fallback, minimum, maximum, enum: allowed, known } = param;
  const place = withPlace ? param.in : undefined;
  return said({ name, in: place, type, required, default: fallback, minimum, maximum, enum: allowed, known });
}

function fieldsOf(params: Params, places: readonly string[]): readonly object[] {
  const withPlace = places.includes('query');
  return Object.entries(params)
    .filter(([, param]) => places.includes(param.in) && param.extension !== true)
    .map((entry) => fieldOf(entry, withPlace));
}

function schemaField(name: string, schema: JsonSchema, required: boolean): object {
  const { type, format, contentMediaType, default: fallback, minimum, maximum, enum: allowed } = schema;
  const word = Array.isArray(type) ? type.join('|') : type;
  const held = contentMediaType === 'application/json' ? 'json' : 'file';
  const plain = schema['anyOf'] === undefined ? word : 'link-or-file';
  const named = contentMediaType === undefined ? (format === 'uri' ? 'url' : plain) : held;
  const known = schema['x-known-values'];
  return said({ name, type: named, required, default: fallback, minimum, maximum, enum: allowed, known });
}

function openApiFields(operation: OpenApiOperation): readonly object[] {
  return (operation.parameters ?? [])
    .filter((parameter) => parameter.in !== 'header' && parameter.schema['x-extension'] !== true)
    .map(({ name, in: place, required, schema }) => ({ ...schemaField(name, schema, required), in: place }));
}

function openApiBody(operation: OpenApiOperation): object | undefined {
  const { requestBody } = operation;
  if (requestBody === undefined) return undefined;
  const [[type, { schema }] = ['', { schema: {} }]] = Object.entries(requestBody.content);
  if (type === '*/*') return { type: 'raw', required: requestBody.required };
  const required = (schema['required'] ?? []) as readonly string[];
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>);
  const fields = properties.map(([name, field]) => schemaField(name, field, required.includes(name)));
  const groups = schema['allOf'] as
    | readonly { anyOf: readonly { required: readonly string[] }[] }[]
    | undefined;
  const accepted = properties.flatMap(([, field]) => (field['x-accepted-types'] ?? []) as readonly string[]);
  return said({
    type,
    required: requestBody.required,
    fields,
    additionalProperties: schema['additionalProperties'],
    oneOf: groups?.map(({ anyOf }) => anyOf.flatMap((one) => one.required)),
    format: formatOf(accepted),
  });
}

function formatOf(accepted: readonly string[]): string | undefined {
  return accepted.length === 0 ? undefined : accepted.join(', ');
}

/** The body of a table; groups of which at most one is used are no matter of the document. */
function bodyOf({ body, params }: Route): object | undefined {
  if (body === undefined) return undefined;
  const { type, required, additionalProperties, oneOf } = body;
  if (type === 'raw') return { type, required };
  const fields = fieldsOf(params, ['form', 'json', 'file']);
  const format = formatOf(Object.values(params).flatMap(({ accepts = [] }) => accepts));
  return said({ type, required, fields, additionalProperties, oneOf, format });
}

function documentedBody({ body }: Documented): object | undefined {
  if (body === undefined) return undefined;
  const { type, required, fields, additionalProperties, oneOf, format } = body;
  // In words, such as "image/* and audio/* only".
  const accepted = format?.match(/[a-z]+\/(?:\*|\w+)/g)?.join(', ');
  return said({ type, required, fields, additionalProperties, oneOf, format: accepted });
}

function documentedParams({ params }: Documented): readonly object[] {
  return params.map((field) => said({ ...field, note: undefined }));
}

describe('the documented operations', () => {
  it('are 126, 91 of the media service and 35 of the workflow service', () => {
    expect(documented).toHaveLength(126);
    expect(documented.filter(({ service }) => service === 'media')).toHaveLength(91);
  });

  it('have exactly one route each, in the section the document names', () => {
    expect(documentedRoutes.map(keyOf).toSorted()).toEqual(documented.map(keyOf).toSorted());
    for (const operation of documented) expect(sectionOf.get(keyOf(operation))).toBe(operation.section);
  });

  it.each(documented.map((operation) => [keyOf(operation), operation] as const))(
    '%s: the table',
    (_, operation) => {
      const route = routeOf(operation);
      expect(route.deprecated ?? false).toBe(operation.deprecated);
      expect(fieldsOf(route.params, ['query', 'path'])).toEqual(documentedParams(operation));
      expect(bodyOf(route)).toEqual(documentedBody(operation));
    },
  );

  it.each(documented.map((operation) => [keyOf(operation), operation] as const))(
    '%s: OpenAPI',
    (_, operation) => {
      const { paths } = buildOpenApi(operation.service);
      const described = paths[operation.path]?.[operation.method.toLowerCase()];
      expect(described?.tags).toEqual([operation.section]);
      expect(described?.deprecated ?? false).toBe(operation.deprecated);
      expect(described && openApiFields(described)).toEqual(documentedParams(operation));
      expect(described && openApiBody(described)).toEqual(documentedBody(operation));
      const answers = Object.keys(described?.responses ?? {}).filter((code) => /^\d+$/.test(code));
      expect(answers.map(Number)).toEqual(operation.answers);
    },
  );
});

describe('the OpenAPI documents', () => {
  it('have the documented versions and component names', () => {
    const { openapi, info, components } = buildOpenApi('media');
    expect(openapi).toBe('3.1.0');
    expect(info.version).toBe('1.0.6');
    expect(components).toMatchObject({ schemas: { HTTPValidationError: {}, ValidationError: {} } });
  });

  it('name every operation differently', () => {
    for (const service of ['media', 'workflow'] as const) {
      const ids = Object.values(buildOpenApi(service).paths).flatMap((methods) =>
        Object.values(methods).map(({ operationId }) => operationId),
      );
      expect(new Set(ids).size).toBe(ids.length);
    }
  });
});

describe('the documents of the routes', () => {
  it('are valid against the schema that callers see', async () => {
    const sdl = await readFile(new URL('../schema/supergraph.graphql', import.meta.url), 'utf8');
    const schema = Supergraph.build(sdl).apiSchema().toGraphQLJSSchema();
    expect(validateRoutes(schema)).toEqual([]);
  });
});
