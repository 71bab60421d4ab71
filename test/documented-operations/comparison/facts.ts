import type { Params } from '../../../rest-compat/route/param.ts';
import type { Route, Section } from '../../../rest-compat/route/route.ts';
import type {
  JsonSchema,
  OpenApiDocument,
  OpenApiOperation,
} from '../../../rest-compat/schemas/openapi-types.ts';
import { acceptedTypes, toKey, type Documented, type DocumentedBody } from '../documents/operation.ts';

/**
 * What the documents, the route tables and the OpenAPI documents say of an operation, in one form, so that they are
 * compared as they are: method, path, section, parameters in their order with types, defaults, bounds and allowed
 * values, the body with its groups and formats, whether it is deprecated.
 */

/** Only what was said: `undefined` members go. */
function said(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));
}

/** What is common to every place where operations are told. */
function toFacts(
  operation: Pick<Documented, 'service' | 'section' | 'method' | 'path' | 'deprecated'>,
  told: {
    readonly redirects: boolean;
    readonly params: readonly object[];
    readonly body: object | undefined;
  },
): object {
  const { service, section, method, path, deprecated } = operation;
  return said({ service, section, method, path, deprecated, ...told });
}

/** By service, then method and path. */
function inOrder(facts: readonly object[]): readonly object[] {
  const toName = (fact: object) => toKey(fact as Documented);
  return facts.toSorted((one, other) => (toName(one) < toName(other) ? -1 : 1));
}

/** What the documents say. */
export function documentedFacts(operations: readonly Documented[]): readonly object[] {
  return inOrder(
    operations.map((operation) =>
      toFacts(operation, {
        redirects: operation.answers.includes(302),
        params: operation.params.map((field) => said({ ...field, note: undefined })),
        body: operation.body && bodyOfDocument(operation.body),
      }),
    ),
  );
}

function bodyOfDocument(body: DocumentedBody): object {
  const { type, required, fields = [], additionalProperties, oneOf } = body;
  return said({ type, required, fields, additionalProperties, oneOf, accepts: acceptedTypes(body) });
}

/** What the tables say. What we have added to the documents does not count, as long as nobody needs it. */
export function tableFacts(sections: readonly Section[]): readonly object[] {
  return inOrder(
    sections.flatMap(({ service, title, routes }) =>
      routes
        .filter(({ extension }) => extension !== true)
        .map((route) => {
          const { method, path, deprecated = false, redirects = false } = route;
          return toFacts(
            { service, section: title, method, path, deprecated },
            { redirects, params: fieldsOfTable(route.params, ['query', 'path']), body: bodyOfTable(route) },
          );
        }),
    ),
  );
}

function fieldsOfTable(params: Params, places: readonly string[]): readonly object[] {
  return Object.entries(params)
    .filter(([, param]) => places.includes(param.in) && (param.extension !== true || param.required))
    .map(([name, param]) => {
      const { type, required, fallback, minimum, maximum, enum: allowed, known } = param;
      const place = param.in === 'query' || param.in === 'path' ? param.in : undefined;
      const values = { default: fallback, minimum, maximum, enum: allowed, known };
      return said({ name, in: place, type, required, ...values });
    });
}

/** Groups of which at most one is used are no matter of the documents. */
function bodyOfTable({ body, params }: Route): object | undefined {
  const fields = fieldsOfTable(params, ['form', 'json', 'file']);
  if (body === undefined) return fields.length === 0 ? undefined : { fields };
  const { type, required, additionalProperties, oneOf } = body;
  const accepts = Object.values(params).flatMap((param) => param.accepts ?? []);
  return said({ type, required, fields, additionalProperties, oneOf, accepts });
}

/** What an OpenAPI document says: one that was built, or one that a server sent. */
export function openApiFacts(
  service: Documented['service'],
  { paths }: Pick<OpenApiDocument, 'paths'>,
): readonly object[] {
  return inOrder(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, operation]) => operation['x-extension'] !== true)
        .map(([method, operation]) => {
          const { tags, deprecated = false } = operation;
          // Of answers that are referred to, the documents say nothing.
          const redirects = !('$ref' in (operation.responses['302'] ?? { $ref: '' }));
          const told = { redirects, params: listParameters(operation), body: bodyOfOpenApi(operation) };
          const section = tags.join(', ');
          return toFacts({ service, section, method: method.toUpperCase(), path, deprecated }, told);
        }),
    ),
  );
}

function listParameters({ parameters = [] }: OpenApiOperation): readonly object[] {
  return parameters
    .filter(({ in: place, required, schema }) => place !== 'header' && isTold(schema, required))
    .map(({ name, in: place, required, schema }) => ({ ...schemaFacts(name, schema, required), in: place }));
}

/** Extensions are left out, unless a caller who knows the documents alone is refused for lack of one. */
function isTold(schema: JsonSchema, required: boolean): boolean {
  return schema['x-extension'] !== true || required;
}

function bodyOfOpenApi({ requestBody }: OpenApiOperation): object | undefined {
  if (requestBody === undefined) return undefined;
  const [[type, { schema }] = ['', { schema: {} }]] = Object.entries(requestBody.content);
  const names = (schema['required'] ?? []) as readonly string[];
  const properties = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>);
  const groups = schema['allOf'] as
    | readonly { readonly anyOf: readonly { readonly required: readonly string[] }[] }[]
    | undefined;
  return said({
    // A body that is taken as its bytes has no type of its own.
    type: type === '*/*' ? 'raw' : type,
    required: requestBody.required,
    fields: properties
      .filter(([name, field]) => isTold(field, names.includes(name)))
      .map(([name, field]) => schemaFacts(name, field, names.includes(name))),
    additionalProperties: schema['additionalProperties'],
    oneOf: groups?.map(({ anyOf }) => anyOf.flatMap((one) => one.required)),
    accepts: properties.flatMap(([, field]) => (field['x-accepted-types'] ?? []) as readonly string[]),
  });
}

function schemaFacts(name: string, schema: JsonSchema, required: boolean): object {
  const { default: fallback, minimum, maximum, enum: allowed } = schema;
  const known = schema['x-known-values'];
  return said({
    name,
    type: nameType(schema),
    required,
    default: fallback,
    minimum,
    maximum,
    enum: allowed,
    known,
  });
}

/** A schema's type in the documents' words. */
function nameType({ type, format, contentMediaType, anyOf }: JsonSchema): unknown {
  if (anyOf !== undefined) return 'link-or-file';
  if (contentMediaType !== undefined) return contentMediaType === 'application/json' ? 'json' : 'file';
  if (format === 'uri') return 'url';
  return Array.isArray(type) ? type.join('|') : type;
}

/** Statuses below 400, and the media service's 422, that an OpenAPI document names, by operation. */
export function openApiAnswers({
  paths,
}: Pick<OpenApiDocument, 'paths'>): ReadonlyMap<string, readonly number[]> {
  return new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { responses }]) => {
        // What every operation may answer is told once for all, and referred to.
        const own = Object.entries(responses).filter(([, response]) => !('$ref' in response));
        const told = own.map(([code]) => Number(code));
        return [toKey({ method: method.toUpperCase(), path }), told] as const;
      }),
    ),
  );
}
