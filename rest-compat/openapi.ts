import { headersTakenBy } from './headers.ts';
import { namesOf } from './names.ts';
import { components, workflowComponents } from './openapi-components.ts';
import type { Param, ParamType } from './params.ts';
import type { Route, Section } from './route.ts';
import { sections as allSections } from './tables.ts';

/** The same tables as OpenAPI 3.1.0. Nothing is described here that a table does not say. */

export interface OpenApiDocument {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: object;
}

export interface OpenApiOperation {
  readonly tags: readonly string[];
  readonly operationId: string;
  readonly deprecated?: true;
  /** Not in the documents: added by us. */
  readonly 'x-extension'?: true;
  readonly parameters?: readonly OpenApiParameter[];
  readonly requestBody?: {
    readonly required: boolean;
    readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>>;
  };
  readonly responses: Readonly<Record<string, object>>;
}

interface OpenApiParameter {
  readonly name: string;
  readonly in: 'query' | 'path' | 'header';
  readonly required: boolean;
  readonly schema: JsonSchema;
  readonly description?: string;
}

/** A JSON Schema (2020-12), as far as these tables need it. */
export type JsonSchema = { readonly [keyword: string]: unknown };

/** Versions of the two interface descriptions. The one of the workflow service is ours to choose. */
const facts = {
  media: {
    title: 'Media Generation Gateway API',
    version: '1.0.6',
    description: 'The media service of Kiln in its documented REST form. The same is available as GraphQL.',
  },
  workflow: {
    title: 'Workflow, Payment and Template Service API',
    version: '1.0.0',
    description:
      'The workflow service of Kiln in its documented REST form. The same is available as GraphQL.',
  },
} as const;

/** The OpenAPI document of one service. Pure: the same tables give the same document. */
export function buildOpenApi(
  service: Section['service'],
  sections: readonly Section[] = allSections,
): OpenApiDocument {
  const own = sections.filter((section) => section.service === service);
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  for (const section of own) {
    for (const route of section.routes) {
      const methods = (paths[route.path] ??= {});
      methods[route.method.toLowerCase()] = operationOf(route, section);
    }
  }
  return {
    openapi: '3.1.0',
    info: facts[service],
    tags: own.map(({ title }) => ({ name: title })),
    paths,
    components: service === 'media' ? components : workflowComponents,
  };
}

function operationOf(route: Route, section: Section): OpenApiOperation {
  const parameters = parametersOf(route);
  const requestBody = bodyOf(route);
  return {
    tags: [section.title],
    operationId: operationIdOf(route),
    ...(route.deprecated === true ? { deprecated: true } : {}),
    ...(route.extension === true ? { 'x-extension': true } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: section.service === 'media' ? responsesOf(route) : workflowResponsesOf(route, section),
  };
}

function operationIdOf({ method, path }: Route): string {
  const words = path.replaceAll(/[^A-Za-z0-9]+/g, '_').replaceAll(/^_|_$/g, '');
  return `${method.toLowerCase()}_${words === '' ? 'root' : words}`;
}

function parametersOf(route: Route): readonly OpenApiParameter[] {
  const declared = Object.entries(route.params).flatMap(([name, param]) =>
    param.in === 'query' || param.in === 'path'
      ? [{ name, in: param.in, required: param.required, schema: schemaOf(param) } as const]
      : [],
  );
  const ours = headersTakenBy(route.asks?.text ?? '');
  const headers = [...ours, ...(route.requestHeaders ?? [])].map(
    ({ name, description }) =>
      ({ name, in: 'header', required: false, schema: { type: 'string' }, description }) as const,
  );
  return [...declared, ...headers];
}

function bodyOf(route: Route): OpenApiOperation['requestBody'] {
  const { body } = route;
  if (body === undefined) return undefined;
  if (body.type === 'raw') return { required: body.required, content: { '*/*': { schema: {} } } };
  const fields = Object.entries(route.params).filter(
    ([, { in: source }]) => source !== 'query' && source !== 'path',
  );
  const required = fields.filter(([, param]) => param.required).map(([name]) => name);
  const schema = {
    type: 'object',
    properties: Object.fromEntries(fields.map(([name, param]) => [name, fieldSchema(name, param)])),
    ...(required.length === 0 ? {} : { required }),
    ...oneOfSchema(body.oneOf),
    ...(body.additionalProperties === true ? { additionalProperties: true } : {}),
  };
  return { required: body.required, content: { [body.type]: { schema } } };
}

/** At least one field of each group; of several the first one is used. */
function oneOfSchema(groups: readonly (readonly string[])[] = []): JsonSchema {
  if (groups.length === 0) return {};
  return { allOf: groups.map((names) => ({ anyOf: names.map((name) => ({ required: [name] })) })) };
}

function fieldSchema(name: string, param: Param<unknown>): JsonSchema {
  const aliases = namesOf(name).slice(1);
  return aliases.length === 0 ? schemaOf(param) : { ...schemaOf(param), 'x-aliases': aliases };
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
    ...(param.enum === undefined ? {} : { enum: param.enum }),
    ...(param.known === undefined ? {} : { 'x-known-values': param.known }),
    ...(param.accepts === undefined ? {} : { 'x-accepted-types': param.accepts }),
    ...(param.extension === true ? { 'x-extension': true } : {}),
  };
}

function responsesOf(route: Route): OpenApiOperation['responses'] {
  const hasInputs = Object.keys(route.params).length > 0;
  return {
    '200': answer('Successful Response', route.answers ?? 'Envelope'),
    ...(hasInputs ? { '422': answer('Validation Error', 'HTTPValidationError') } : {}),
    default: answer('Any other answer', 'Envelope'),
  };
}

function workflowResponsesOf(route: Route, { envelope }: Section): OpenApiOperation['responses'] {
  const ours = envelope === 'sign-in' ? 'SignInEnvelope' : 'Envelope';
  const told = answer('Any other answer', ours);
  if (route.redirects !== true) {
    return { '200': answer('Successful Response', route.answers ?? ours), default: told };
  }
  const headers = { Location: { schema: { type: 'string', format: 'uri' } } };
  return { '302': { ...answer('Redirect', ours), headers }, default: told };
}

function answer(description: string, component: string): object {
  const schema = { $ref: `#/components/schemas/${component}` };
  return { description, content: { 'application/json': { schema } } };
}
