import { z } from 'zod';

import { once } from '../../../platform/once.ts';
import type { JsonSchema, OpenApiDocument } from '../../../rest-compat/schemas/openapi-types.ts';
import { rest } from '../../kit/clients/requests.ts';
import { toKey, type Documented } from '../documents/operation.ts';
import type { Answer } from '../requests/send.ts';

/** What is wrong with an answer by the OpenAPI document that its server sends: an untold status, another form. */
export type AnswerCheck = (
  operation: Documented,
  answer: Pick<Answer, 'status' | 'body'>,
) => readonly string[];

interface Response {
  readonly $ref?: string;
  readonly content?: { readonly 'application/json'?: { readonly schema: JsonSchema } };
}

/** Reads the documents of the server at this address. */
export async function createAnswerCheck(url: string): Promise<AnswerCheck> {
  const schemas = new Map([
    ...listSchemas((await rest(url, 'GET', '/openapi.json')).body),
    ...listSchemas((await rest(url, 'GET', '/openapi-workflow.json')).body),
  ]);
  return (operation, { status, body }) => {
    const schema = schemas.get(`${toKey(operation)} ${status}`);
    if (schema === undefined) return [`${status} is told nowhere`];
    const { error } = schema().safeParse(body);
    return (error?.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);
  };
}

/** Makers of schemas by method, path and status. */
function listSchemas({
  paths,
  components,
}: OpenApiDocument): readonly (readonly [string, () => z.ZodType])[] {
  const { schemas, responses } = inDefinitions(components) as {
    readonly schemas: Readonly<Record<string, JsonSchema>>;
    readonly responses: Readonly<Record<string, Response>>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) =>
      Object.entries(inDefinitions(operation.responses) as Readonly<Record<string, Response>>).map(
        ([status, response]) => {
          const { content } = responses[response.$ref?.split('/').at(-1) ?? ''] ?? response;
          const schema = content?.['application/json']?.schema ?? {};
          const make = once(() => z.fromJSONSchema({ ...schema, $defs: schemas }));
          return [`${toKey({ method: method.toUpperCase(), path })} ${status}`, make] as const;
        },
      ),
    ),
  );
}

/** With its references as JSON Schema has them by itself. */
function inDefinitions(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll('#/components/schemas/', '#/$defs/'));
}
