import { z } from 'zod';

import { faceRoutes } from '../../../faces/openai/routes.ts';
import type { JsonSchema, OpenApiOperation } from '../../../rest-compat/schemas/openapi-types.ts';
import type { Described } from '../description.ts';
import { findModels } from './models.ts';

/** What OpenAI's own openapi.yaml says of the operations that the face has, ready to be held against answers. */

/** A description as it was published, as far as it is read. */
export interface PublishedDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, PublishedOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
}

interface PublishedOperation {
  readonly parameters?: OpenApiOperation['parameters'];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

type Content = Readonly<Record<string, { readonly schema?: JsonSchema }>>;

/** Each operation that both have, once for each way in which its body may be sent. */
export function describedBy(document: PublishedDocument, prefix: string): readonly Described[] {
  const ours = new Set(faceRoutes.map(({ method, path }) => `${method} ${hideNames(path)}`));
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([method]) => ours.has(`${method.toUpperCase()} ${hideNames(path)}`))
      .flatMap(([method, operation]) => {
        const fault = createFaultFinder(document, path, operation);
        const bodies = Object.entries(operation.requestBody?.content ?? { none: {} });
        return bodies.map(([type, { schema = {} }]) => ({
          method: method.toUpperCase(),
          path: `${prefix}${path}`,
          operation: {
            tags: [],
            operationId: `${method} ${path}`,
            parameters: operation.parameters?.map((one) => ({
              ...one,
              schema: simple(document, one.schema),
            })),
            responses: {},
            ...(type !== 'none' && {
              requestBody: {
                required: true,
                content: { [type]: { schema: bodySchema(document, path, schema) } },
              },
            }),
          } as OpenApiOperation,
          fault,
        }));
      }),
  );
}

function hideNames(path: string): string {
  return path.replaceAll(/\{\w+\}/g, '{}');
}

/** A body as flat properties: what the fuzzer can draw values for. */
function bodySchema(document: PublishedDocument, path: string, schema: JsonSchema): JsonSchema {
  const { properties, required } = collectMembers(document, schema);
  const drawn = Object.entries(properties).map(([name, one]): readonly [string, JsonSchema] => [
    name,
    simple(document, one),
  ]);
  const models = findModels(path);
  const model: readonly (readonly [string, JsonSchema])[] =
    models.length === 0 ? [] : [['model', { type: 'string', enum: models }]];
  const ours = path.startsWith('/images/') ? OUR_FIELDS : {};
  return { properties: { ...Object.fromEntries([...drawn, ...model]), ...ours }, required };
}

interface Members {
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
}

function collectMembers(document: PublishedDocument, schema: JsonSchema): Members {
  const found = resolved(document, schema);
  const parts = ((found['allOf'] ?? []) as readonly JsonSchema[]).map((part) =>
    collectMembers(document, part),
  );
  const own = (found['properties'] ?? {}) as Members['properties'];
  return {
    properties: Object.assign({}, ...parts.map(({ properties }) => properties), own) as Members['properties'],
    required: [
      ...parts.flatMap(({ required }) => required),
      ...((found['required'] ?? []) as readonly string[]),
    ],
  };
}

/** The first of several forms that is not null, files as our documents write them. */
function simple(document: PublishedDocument, schema: JsonSchema): JsonSchema {
  const found = resolved(document, schema);
  const forms = (found['anyOf'] ?? found['oneOf']) as readonly JsonSchema[] | undefined;
  const form = forms?.map((one) => resolved(document, one)).find((one) => one['type'] !== 'null');
  if (form !== undefined) return simple(document, form);
  return found['format'] === 'binary' ? { ...found, contentMediaType: 'application/octet-stream' } : found;
}

function resolved({ components }: PublishedDocument, schema: JsonSchema): JsonSchema {
  const name = schema['$ref'];
  if (typeof name !== 'string') return schema;
  return components.schemas[name.replace('#/components/schemas/', '')] ?? {};
}

/** Fields of images that OpenAI's own calls do not have. */
const OUR_FIELDS: Readonly<Record<string, JsonSchema>> = { batch: { type: 'boolean' } };
/** Where models of other vendors have more than OpenAI's words: films have sizes of their own, none before they are made. */
const OURS: Readonly<Record<string, JsonSchema>> = {
  VideoSize: { type: 'string', pattern: '^(\\d+x\\d+|[\\w:]*)$' },
};
/** Answers whose bytes the document calls a text or JSON. */
const BYTES = /\/content$|^\/audio\/speech$/;
/** 202 is ours: the work goes on. */
const GOES_ON = 202;

function createFaultFinder(document: PublishedDocument, path: string, { responses }: PublishedOperation) {
  const makers = new Map<string, z.ZodType>();
  const validator = (schema: JsonSchema): z.ZodType => {
    const key = JSON.stringify(schema);
    const made = makers.get(key) ?? z.fromJSONSchema(standalone(document, schema));
    makers.set(key, made);
    return made;
  };
  const error = { $ref: '#/components/schemas/ErrorResponse' };
  return (status: number, contentType: string, body: string): string | null => {
    const [type = ''] = contentType.split(';');
    // Too long a head is refused by Node itself.
    if (status === 431 && body === '') return null;
    if (status >= 400) return jsonFault(validator(error), body);
    if (status === GOES_ON || status === 302) return null;
    const content = responses[String(status)]?.content;
    if (content === undefined) return `status ${status} is not described`;
    if (BYTES.test(path) && type !== 'text/event-stream') return null;
    const { schema } = content[type] ?? {};
    if (schema === undefined) return `content type ${JSON.stringify(contentType)}`;
    return type === 'text/event-stream'
      ? eventsFault(validator(schema), validator(error), body)
      : jsonFault(validator(schema), body);
  };
}

function jsonFault(validator: z.ZodType, body: string): string | null {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return 'the body is not JSON';
  }
  const { error } = validator.safeParse(value);
  if (error === undefined) return null;
  return `breaks its schema: ${z.prettifyError(error)}`;
}

/** Every event of a stream; a failure in it is an `error` event. */
function eventsFault(validator: z.ZodType, failure: z.ZodType, body: string): string | null {
  for (const block of body.replaceAll(/^:.*$/gm, '').split('\n\n')) {
    const data = /^data: (.*)$/m.exec(block)?.[1];
    if (data === undefined || data === '[DONE]') continue;
    const fault = jsonFault(block.startsWith('event: error') ? failure : validator, data);
    if (fault !== null) return `an event ${fault}`;
  }
  return null;
}

/** A schema with all that it refers to, where JSON Schema alone has it. */
function standalone({ components }: PublishedDocument, schema: JsonSchema): JsonSchema {
  const names = new Set<string>();
  const collect = (value: unknown): void => {
    for (const [, name = ''] of (JSON.stringify(value) ?? '').matchAll(
      /"#\/components\/schemas\/([^"]+)"/g,
    )) {
      if (names.has(name)) continue;
      names.add(name);
      collect(components.schemas[name]);
    }
  };
  collect(schema);
  const schemas = { ...components.schemas, ...OURS };
  const $defs = Object.fromEntries([...names].map((name) => [name, schemas[name] ?? {}]));
  const text = JSON.stringify(withNulls({ ...schema, $defs })).replaceAll(
    '#/components/schemas/',
    '#/$defs/',
  );
  return JSON.parse(text) as JsonSchema;
}

/** `nullable`, which OpenAPI 3.1 has no more and the document still uses, as JSON Schema says it. */
function withNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withNulls);
  if (typeof value !== 'object' || value === null) return value;
  const { nullable, ...rest } = value as Readonly<Record<string, unknown>>;
  const members = Object.fromEntries(Object.entries(rest).map(([name, one]) => [name, withNulls(one)]));
  return nullable === true
    ? { anyOf: [members, { type: 'null' }] }
    : { ...members, ...(typeof nullable === 'object' && { nullable: withNulls(nullable) }) };
}
