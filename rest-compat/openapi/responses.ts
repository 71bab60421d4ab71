import { headersTakenBy } from '../route/headers.ts';
import type { Route, Section } from '../route/route.ts';
import { anyValue, schemaRef, nullType, objectOf, string } from '../schemas/json-schema.ts';
import { mediaSchemas } from '../schemas/media.ts';
import type {
  JsonSchema,
  OpenApiComponents,
  OpenApiOperation,
  OpenApiResponse,
} from '../schemas/openapi-types.ts';
import { workflowResponse, workflowSchemas } from '../schemas/workflow.ts';

type Responses = OpenApiOperation['responses'];

/** Every response of an operation, by status. */
export function describeResponses(route: Route, section: Section): Responses {
  const own = section.service === 'media' ? mediaResponses(route) : workflowResponses(route, section);
  const shared = sharedBy(route, section).map((status) => [
    status,
    { $ref: `#/components/responses/${names[status]}${hasPage(route, status) ? PAGE : ''}` },
  ]);
  return { ...own, ...(Object.fromEntries(shared) as Responses) };
}

function mediaResponses(route: Route): Responses {
  const hasInputs = Object.keys(route.params).length > 0;
  return {
    '200': {
      ...describeResponse(
        'Successful Response',
        route.responseSchema === undefined ? anyValue : schemaRef(route.responseSchema),
      ),
      ...(makesFiles(route) ? { headers: manageToken } : {}),
    },
    ...(hasInputs ? { '422': describeResponse('Validation Error', schemaRef('HTTPValidationError')) } : {}),
  };
}

/** Whether it stores a file, or starts a task, which does. */
function makesFiles({ document, params }: Route): boolean {
  if (document !== null) return headersTakenBy(document).some(({ name }) => name === 'X-Callback-Url');
  return Object.values(params).some(({ destination }) => destination !== undefined);
}

function workflowResponses(route: Route, { envelope }: Section): Responses {
  const schema =
    route.isBare === true
      ? schemaRef(route.responseSchema ?? 'Envelope')
      : workflowResponse(envelope, route.dataSchema);
  const success = describeResponse('Successful Response', schema);
  const others = (route.otherTypes ?? []).map((type) => [type, { schema: string }] as const);
  const isTable = others.length > 0 && route.dataSchema === undefined;
  const content = { ...(isTable ? {} : success.content), ...Object.fromEntries(others) };
  if (route.redirects !== true) return { '200': { ...success, content } };
  return { '302': { ...describeResponse('Redirect', schema), headers: location } };
}

function describeResponse(description: string, schema: JsonSchema): OpenApiResponse {
  return { description, content: { 'application/json': { schema } } };
}

/** Names of the shared responses by status. */
const names = {
  302: 'Redirect',
  400: 'BadInput',
  401: 'Unauthenticated',
  403: 'Forbidden',
  404: 'NotFound',
  409: 'Conflict',
  413: 'TooLarge',
  429: 'TooManyRequests',
  431: 'HeadTooLarge',
  500: 'InternalError',
  503: 'Unavailable',
} as const;

type Shared = keyof typeof names;

function sharedBy(route: Route, { service }: Section): readonly Shared[] {
  const hasPath = Object.values(route.params).some(({ in: place }) => place === 'path');
  const isRepeatable = headersTakenBy(route.document).some(({ name }) => name === 'Idempotency-Key');
  const isWorkflow = service === 'workflow';
  const wanted: Readonly<Record<Shared, boolean>> = {
    302: route.mayRedirect === true,
    400: isWorkflow,
    401: true,
    403: true,
    404: isWorkflow || hasPath,
    409: isWorkflow || isRepeatable,
    413: route.body !== undefined,
    429: true,
    431: true,
    500: true,
    503: true,
  };
  return (Object.keys(names).map(Number) as Shared[]).filter((status) => wanted[status]);
}

const location = {
  Location: { description: 'Where to continue.', schema: { type: 'string', format: 'uri' } },
};
const manageToken = {
  'X-Manage-Token': {
    description:
      'Only to a caller without a credential, once: what `deleteMedia` of the GraphQL API takes as `manageToken` to delete what was made.',
    schema: { type: 'string' },
  },
};
const retryAfter = { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } } };

const descriptions: Readonly<Record<Exclude<(typeof names)[Shared], 'Redirect' | 'HeadTooLarge'>, string>> = {
  BadInput: 'An input is missing or not as documented; data.issues names each.',
  Unauthenticated: 'A credential is needed, or the one that was sent has expired or is forged.',
  Forbidden: 'The caller is not allowed to do this.',
  NotFound: 'Unknown path, or no such resource.',
  Conflict: 'A conflict with existing data, such as an Idempotency-Key that was used with another request.',
  TooLarge: 'The body, or a file in it, is larger than the limit.',
  TooManyRequests: 'More requests than are allowed in a minute.',
  InternalError: 'Internal error; the log has it under the trace id of the response.',
  Unavailable: 'A service that is needed does not respond, is full, or is not configured.',
};

/** What the name of a shared failure ends with where browsers see it as a page. */
const PAGE = 'Page';

function hasPage({ failurePage }: Route, status: Shared): boolean {
  return failurePage !== undefined && status !== 413 && Object.hasOwn(descriptions, names[status]);
}

/** The failures that browsers see as pages: those of the workflow service alone. */
function failurePages(): readonly (readonly [string, OpenApiResponse])[] {
  const ofReads = Object.entries(descriptions).filter(([name]) => name !== 'TooLarge');
  return ofReads.map(([name, text]) => {
    const { description, content } = describeResponse(text, schemaRef('Failure'));
    const both = { ...content, 'text/html': { schema: string } };
    return [`${name}${PAGE}`, { description, content: both, ...describeHeaders(name) }] as const;
  });
}

/** The HTTP server sends it before a request reaches any route, so it has no envelope. */
const headTooLarge: OpenApiResponse = {
  description: 'Path, query and headers have more than 64 KiB in all. There is no body.',
};

/** The components of one service's document. */
export function describeComponents(service: Section['service']): OpenApiComponents {
  const failure = service === 'media' ? errorBody : schemaRef('Failure');
  const failures = Object.entries(descriptions)
    .filter(([name]) => service === 'workflow' || name !== 'BadInput')
    .map(
      ([name, description]) =>
        [name, { ...describeResponse(description, failure), ...describeHeaders(name) }] as const,
    );
  const redirect = {
    ...describeResponse('Continue there.', workflowResponse('sign-in', anyValue)),
    headers: location,
  };
  return {
    schemas: service === 'media' ? mediaSchemas : workflowSchemas,
    responses: {
      ...(service === 'workflow' ? { Redirect: redirect } : {}),
      ...Object.fromEntries(failures),
      ...(service === 'workflow' ? Object.fromEntries(failurePages()) : {}),
      HeadTooLarge: headTooLarge,
    },
    securitySchemes: {
      bearer: {
        type: 'http',
        scheme: 'bearer',
        description: 'A service key, or the access token of a user.',
      },
    },
  };
}

function describeHeaders(name: string): Pick<OpenApiResponse, 'headers'> {
  return name === 'TooManyRequests' || name === 'Unavailable' ? { headers: retryAfter } : {};
}

/** The body of the media service's errors outside of its operations. */
const errorBody: JsonSchema = {
  ...objectOf({ status: { const: false }, data: nullType, msg: string }),
  description: 'Unknown paths have a `detail` as well.',
};
