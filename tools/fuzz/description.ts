import { z } from 'zod';

import type {
  JsonSchema,
  OpenApiDocument,
  OpenApiOperation,
} from '../../rest-compat/schemas/openapi-types.ts';

/** What a server's OpenAPI document says of its operations, ready to be held against answers. */
export interface Described {
  readonly method: string;
  readonly path: string;
  readonly operation: OpenApiOperation;
  /** What is wrong with an answer; null when it is as described. */
  readonly fault: (status: number, contentType: string, body: string) => string | null;
}

/** Every operation of a document. */
export function describedIn(document: OpenApiDocument): readonly Described[] {
  const validators = createValidators(document);
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
      fault: (status, contentType, body) => findFault(validators, operation, { status, contentType, body }),
    })),
  );
}

interface DescribedAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

function findFault(
  validators: ReturnType<typeof createValidators>,
  { responses }: OpenApiOperation,
  { status, contentType, body }: DescribedAnswer,
): string | null {
  const response = responses[String(status)];
  if (response === undefined) return `status ${status} is not described`;
  const validator = validators.of(response);
  if (validator === null) return body === '' ? null : 'there is a body';
  if (validators.listTypes(response).includes(contentType.split(';')[0] ?? '')) return null;
  if (!/^application\/json\b/.test(contentType)) return `content type ${JSON.stringify(contentType)}`;
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return 'the body is not JSON';
  }
  const { success, error } = validator.safeParse(value);
  return success ? null : `breaks its schema: ${error.issues.map(({ message }) => message).join('; ')}`;
}

function createValidators({ components }: OpenApiDocument) {
  const made = new Map<object, z.ZodType | null>();
  const definitions = inPlace(components.schemas) as Record<string, z.core.JSONSchema.JSONSchema>;
  const resolveContent = (response: object) => {
    const { $ref } = response as { readonly $ref?: string };
    const told = $ref === undefined ? response : components.responses[$ref.split('/').at(-1) ?? ''];
    const { content } = told as {
      readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>;
    };
    return content;
  };
  const make = (response: object): z.ZodType | null => {
    const content = resolveContent(response);
    if (content === undefined) return null;
    const schema = inPlace(content['application/json']?.schema ?? {}) as z.core.JSONSchema.JSONSchema;
    return z.fromJSONSchema({ ...schema, $defs: definitions });
  };
  return {
    /** Types besides JSON, of which nothing more is told. */
    listTypes: (response: object): readonly string[] =>
      Object.keys(resolveContent(response) ?? {}).filter((type) => type !== 'application/json'),
    /** Null: this answer has no body. */
    of(response: object): z.ZodType | null {
      const validator = made.has(response) ? (made.get(response) ?? null) : make(response);
      made.set(response, validator);
      return validator;
    },
  };
}

/** The same with its references where JSON Schema alone has them. */
function inPlace(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value).replaceAll('#/components/schemas/', '#/$defs/'));
}
