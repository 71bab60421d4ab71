import type { RequestHandler } from 'express';
import { GraphQLError } from 'graphql';

import { parseJson } from '../../platform/json.ts';
import type { ErrorFormatter } from '../request/errors.ts';
import { contextOf } from '../request/request-context.ts';
import type { ExpandOperation } from './admission/transport.ts';

/** Puts texts in the place of hashes, in bodies and in the addresses of GET requests. JSON bodies must have been read before. */
export function expandPersisted(expand: ExpandOperation, errors: ErrorFormatter): RequestHandler {
  return (request, response, next) => {
    const isGet = request.method === 'GET';
    const before: unknown = isGet ? readOperation(request.originalUrl) : request.body;
    const after = expand(before);
    if (after instanceof GraphQLError) {
      const shown = errors.formatError(after, contextOf(request).caller.traceId);
      // As Apollo Server: clients read the code, and send the text.
      return void response
        .status(200)
        .set('Cache-Control', 'no-store')
        .json({ errors: [shown] });
    }
    if (after === before) return next();
    if (!isGet) {
      request.body = after;
      return next();
    }
    const { query } = after as { readonly query: string };
    request.url = withText(request.url, query);
    request.originalUrl = withText(request.originalUrl, query);
    // A text that is known here is no forged request of a browser: it reads, and its answer stays where it is.
    request.headers['apollo-require-preflight'] ??= 'persisted';
    next();
  };
}

function readOperation(url: string): unknown {
  const { searchParams } = new URL(url, 'http://localhost');
  const extensions = parseJson(searchParams.get('extensions') ?? '');
  return { extensions, query: searchParams.get('query') ?? undefined };
}

function withText(url: string, query: string): string {
  const [path = '', search = ''] = url.split('?', 2);
  const parameters = new URLSearchParams(search);
  parameters.delete('extensions');
  parameters.set('query', query);
  return `${path}?${parameters.toString()}`;
}
