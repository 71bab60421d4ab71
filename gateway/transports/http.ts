import type { RequestHandler } from 'express';
import { GraphQLError } from 'graphql';

import { noteRequest } from '../../platform/http/request-facts.ts';
import { once } from '../../platform/once.ts';
import { rateHeaders } from '../limits/rate-limit.ts';
import { contextOf } from '../request/request-context.ts';
import { readOperation, readOperationOfUrl } from './admission/read-operation.ts';
import { needsStream, refusedAnswer, type TransportOptions } from './admission/transport.ts';
import type { ApolloHandler } from './apollo-server.ts';
import type { MultipartTransport } from './streams/multipart.ts';

/** Queries and mutations over HTTP: Apollo Server over the federation, behind admission. */
export interface HttpTransport {
  /** The handlers in their order, after the parsers of JSON bodies and uploads. */
  readonly handlers: readonly RequestHandler[];
  close(): Promise<void>;
}

/** Options of the HTTP transport. */
export interface HttpTransportOptions extends TransportOptions {
  /** Whether introspection is allowed. */
  readonly introspection: boolean;
  /** Serves subscriptions to clients that accept multipart. */
  readonly multipart: MultipartTransport;
}

/** Makes the transport. Apollo Server is loaded when an operation first comes that does not take the fast path. */
export function createHttpTransport(options: HttpTransportOptions): HttpTransport {
  const apollo = once(() => startApollo(options));
  const answerByApollo: RequestHandler = async (request, response, next) => {
    const { handle } = await apollo();
    handle(request, response, next);
  };
  return {
    handlers: [admitOverHttp(options), answerByApollo],
    close: async () => (await apollo.kept())?.stop(),
  };
}

async function startApollo(options: HttpTransportOptions): Promise<ApolloHandler> {
  const { startApolloServer } = await import('./apollo-server.ts');
  return startApolloServer(options);
}

/** Admits operations before Apollo Server validates them, and handles subscriptions. */
function admitOverHttp({ admission, errors, multipart }: HttpTransportOptions): RequestHandler {
  return async (request, response, next) => {
    const { caller } = contextOf(request);
    const answer = (status: number, error: GraphQLError): void => {
      response.status(status).json({ errors: [errors.formatError(error, caller.traceId)] });
    };
    const operation =
      request.method === 'GET' ? readOperationOfUrl(request.originalUrl) : readOperation(request.body);
    if (operation instanceof GraphQLError) {
      // Apollo Server explains requests without an operation, in the words its clients know; batches are refused here.
      return operation.extensions['code'] === 'QUERY_REFUSED' ? answer(400, operation) : next();
    }
    const verdict = await admission.admit(operation, caller, true);
    if ('errors' in verdict) {
      const { status, headers, body } = refusedAnswer(verdict, errors, caller.traceId);
      return void response.status(status).set(headers).json(body);
    }
    if (verdict.rate !== undefined) response.set(rateHeaders(verdict.rate));
    if (verdict.operation.kind === 'mutation') noteRequest(response, { changes: verdict.operation.fields });
    if (verdict.operation.kind !== 'subscription') return next();
    if (!multipart.accepts(request)) return answer(406, needsStream());
    await multipart.stream(request, response, operation, verdict.operation);
  };
}
