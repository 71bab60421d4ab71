import { z } from 'zod';

/** What a version takes and answers. */
interface VersionSchema {
  readonly input: z.ZodType<Record<string, unknown>>;
  /** Whether its output is a list of addresses. */
  readonly answersList: boolean;
}

/** The OpenAPI schema of a model's version: choices are components of their own, as Replicate writes them. */
export function toOpenapiSchema({ input, answersList }: VersionSchema): object {
  const { properties = {}, required = [] } = z.toJSONSchema(input, { io: 'input' });
  const written = Object.entries(properties).map(([name, schema], index) => {
    const order = { 'x-order': index };
    if (typeof schema === 'boolean' || schema.enum === undefined)
      return { name, schema: { ...Object(schema), ...order } };
    const { enum: words, type, ...rest } = schema;
    const choice = { title: name, type, enum: words, description: 'An enumeration.' };
    return { name, choice, schema: { ...rest, allOf: [{ $ref: `#/components/schemas/${name}` }], ...order } };
  });
  const choices = written.flatMap(({ name, choice }) => (choice === undefined ? [] : [[name, choice]]));
  const address = { type: 'string', format: 'uri' };
  return {
    openapi: '3.0.2',
    info: { title: 'Cog', version: '0.1.0' },
    paths: {},
    components: {
      schemas: {
        ...Object.fromEntries(choices),
        Input: {
          type: 'object',
          title: 'Input',
          required,
          properties: Object.fromEntries(written.map(({ name, schema }) => [name, schema])),
        },
        Output: { title: 'Output', ...(answersList ? { type: 'array', items: address } : address) },
      },
    },
  };
}
