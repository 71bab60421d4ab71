import { headersTakenBy } from '../route/headers.ts';
import { listNames, type Param, type Params, type ParamType } from '../route/param.ts';
import type { ResponseSchemaName, Route, Section } from '../route/route.ts';
import type {
  JsonSchema,
  OpenApiDocument,
  OpenApiOperation,
  OpenApiParameter,
} from '../schemas/openapi-types.ts';
import { describeComponents, describeResponses } from './responses.ts';

/** The route tables as OpenAPI 3.1.0 documents. */

/** Versions of the two interface descriptions. The one of the workflow service is ours to choose. */
const facts = {
  media: {
    title: 'Media Generation Gateway API',
    version: '1.0.6',
    description:
      'The media service of Kiln: its documented REST operations, which are also available as GraphQL.',
  },
  workflow: {
    title: 'Workflow, Payment and Template Service API',
    version: '1.0.0',
    description:
      'The workflow service of Kiln: its documented REST operations, which are also available as GraphQL.',
  },
} as const;

/** The OpenAPI document of one service. Pure: the same tables give the same document. */
export function buildOpenApi(service: Section['service'], sections: readonly Section[]): OpenApiDocument {
  const own = sections.filter((section) => section.service === service);
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  for (const section of own) {
    for (const route of section.routes) {
      const methods = (paths[route.path] ??= {});
      methods[route.method.toLowerCase()] = describeOperation(route, section);
    }
  }
  return {
    openapi: '3.1.0',
    info: facts[service],
    tags: own.map(({ title }) => ({ name: title })),
    security: [{}, { bearer: [] }],
    paths,
    components: describeComponents(service),
  };
}

function describeOperation(route: Route, section: Section): OpenApiOperation {
  const parameters = describeParameters(route);
  const requestBody = describeBody(route);
  const summary = summarize(route);
  return {
    tags: [section.title],
    operationId: toOperationId(route),
    ...(summary === undefined ? {} : { summary }),
    ...(route.deprecated === true ? { deprecated: true } : {}),
    ...(route.extension === true ? { 'x-extension': true } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: describeResponses(route, section),
  };
}

function toOperationId({ method, path }: Route): string {
  const words = path.replaceAll(/[^A-Za-z0-9]+/g, '_').replaceAll(/^_|_$/g, '');
  return `${method.toLowerCase()}_${words === '' ? 'root' : words}`;
}

/** Summaries of operations. Those of the media service follow from their response schema. */

const bySchema: Readonly<Partial<Record<ResponseSchemaName, string>>> = {
  Welcome: 'Returns the name and the version of the server.',
  Health: 'Returns the health of the service.',
  StoredFile: 'Stores a file permanently, and returns its address.',
  StoredResource: 'Sends a file to the provider, and returns its id for submissions.',
  CloudFile: "Sends a file to the provider's storage, and returns its address there.",
  Submission: 'Starts a task, and returns its id at once.',
  Text: 'Asks a language model, and returns the whole text.',
  AnalysisText: 'Has a language model analyse a file, and waits for its text.',
  Models: 'Lists the models and their limits.',
  Voices: 'Lists the cloned voices.',
  RunningNode: 'Returns the ComfyUI server with the most room.',
  PromptCheck: 'Checks whether a prompt is allowed.',
  PromptDefault: 'Returns the prompt of a video template as a sample.',
  TaskType: 'Checks whether the name of a video template is available.',
  DeletedTemplate: 'Deletes a video template.',
  PagedTemplates: 'Lists the video templates, page by page.',
  Cancellation: 'Cancels a task.',
  DescriptionTask: 'Describes an image, and waits for the description.',
  VoiceTask: 'Clones a voice from a sample, and waits for it.',
};

/** The summary of a route; undefined when there is none. */
function summarize({ summary, responseSchema, wait, method }: Route): string | undefined {
  if (summary !== undefined) return summary;
  if (responseSchema === 'Template')
    return method === 'PUT' ? 'Updates a video template.' : 'Creates a video template.';
  const known = responseSchema === undefined ? undefined : bySchema[responseSchema];
  if (known !== undefined || responseSchema?.endsWith('Task') !== true) return known;
  return wait === undefined
    ? 'Returns the state of a task, and its result.'
    : 'Starts a task, and waits for its result.';
}

/** The parameters and the request body of an operation. */

/** Parameters of the path, of the query and of the headers that the operation reads. */
function describeParameters(route: Route): readonly OpenApiParameter[] {
  const declared = Object.entries(route.params).flatMap(([name, param]) =>
    param.in === 'query' || param.in === 'path'
      ? [{ name, in: param.in, required: param.required, schema: describeParam(param) } as const]
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
function describeBody(route: Route): OpenApiOperation['requestBody'] {
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
  const aliases = listNames(params, name).slice(1);
  const param = params[name];
  const schema = param === undefined ? {} : describeParam(param);
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

function describeParam(param: Param<unknown>): JsonSchema {
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
