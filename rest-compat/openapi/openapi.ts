import type { Route, Section } from '../route/route.ts';
import type { OpenApiDocument, OpenApiOperation } from '../schemas/openapi-types.ts';
import { bodyOf, parametersOf } from './inputs.ts';
import { componentsOf, responsesOf } from './responses.ts';
import { summaryOf } from './summaries.ts';

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
      methods[route.method.toLowerCase()] = operationOf(route, section);
    }
  }
  return {
    openapi: '3.1.0',
    info: facts[service],
    tags: own.map(({ title }) => ({ name: title })),
    security: [{}, { bearer: [] }],
    paths,
    components: componentsOf(service),
  };
}

function operationOf(route: Route, section: Section): OpenApiOperation {
  const parameters = parametersOf(route);
  const requestBody = bodyOf(route);
  const summary = summaryOf(route);
  return {
    tags: [section.title],
    operationId: operationIdOf(route),
    ...(summary === undefined ? {} : { summary }),
    ...(route.deprecated === true ? { deprecated: true } : {}),
    ...(route.extension === true ? { 'x-extension': true } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: responsesOf(route, section),
  };
}

function operationIdOf({ method, path }: Route): string {
  const words = path.replaceAll(/[^A-Za-z0-9]+/g, '_').replaceAll(/^_|_$/g, '');
  return `${method.toLowerCase()}_${words === '' ? 'root' : words}`;
}
