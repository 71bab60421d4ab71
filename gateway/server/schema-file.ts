import type { Request, RequestHandler, Response } from 'express';
import { type GraphQLSchema, printSchema } from 'graphql';

import { contextOf } from '../request/request-context.ts';

/**
 * Serves the schema that callers see as SDL, with descriptions, for code generators: to everybody where introspection
 * is on, else (in production) to known callers.
 */
export function serveSchema(options: {
  readonly apiSchema: () => GraphQLSchema;
  readonly introspection: boolean;
}): RequestHandler {
  const { apiSchema, introspection } = options;
  let printed: { readonly schema: GraphQLSchema; readonly sdl: string } | null = null;
  return (request: Request, response: Response) => {
    if (!introspection && contextOf(request).caller.kind === 'anonymous') {
      response.status(401).set('WWW-Authenticate', 'Bearer').type('text/plain');
      response.send(
        'the schema needs a credential: send Authorization: Bearer with a token or a service key\n',
      );
      return;
    }
    const schema = apiSchema();
    if (printed?.schema !== schema) printed = { schema, sdl: `${printSchema(schema)}\n` };
    response.type('text/plain').set('Cache-Control', 'no-cache').send(printed.sdl);
  };
}
