import { z } from 'zod';

import { json } from '../../http/answer.ts';
import type { Answer } from '../../http/answer.ts';
import type { WireRequest } from '../../http/wire.ts';
import { platformError } from './answers.ts';
import { ENDPOINTS, type FalEndpoint } from './endpoints.ts';

/** GET /api/openapi/queue/openapi.json: the document of the endpoint that `endpoint_id` names. It needs no key. */
export function answerOpenapi({ query }: WireRequest): Answer {
  const id = query.get('endpoint_id') ?? '';
  const endpoint = ENDPOINTS.find(({ path }) => path === `/${id}`);
  return endpoint === undefined
    ? platformError(404, `Endpoint ${id} not found`)
    : json(describeEndpoint(id, endpoint));
}

const file = { type: 'object', properties: { url: { type: 'string' } }, required: ['url'] };

function describeEndpoint(id: string, { path, operation, input }: FalEndpoint): object {
  const { $schema: _, ...schema } = z.toJSONSchema(input, { io: 'input' });
  const properties = operation === 'image' ? { images: { type: 'array', items: file } } : { video: file };
  const describeBody = (name: string) => ({
    content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } },
  });
  return {
    openapi: '3.0.4',
    info: { title: `Queue OpenAPI for ${id}`, version: '1.0.0', 'x-fal-metadata': { endpointId: id } },
    components: {
      schemas: { Input: schema, Output: { type: 'object', properties, required: Object.keys(properties) } },
    },
    paths: {
      [path]: { post: { requestBody: { required: true, ...describeBody('Input') } } },
      [`${path}/requests/{request_id}`]: { get: { responses: { 200: describeBody('Output') } } },
    },
  };
}
