import { ApolloServer, type ApolloServerPlugin } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
} from '@apollo/server/plugin/disabled';
import { expressMiddleware } from '@as-integrations/express5';
import type { RequestHandler } from 'express';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';

import type { RequestContext } from '../../platform/graphql/operations/executor.ts';
import { PREFLIGHT_HEADERS } from '../../platform/graphql/uploads/uploads.ts';
import { noteRequest } from '../../platform/http/request-facts.ts';
import { rateHeaders } from '../limits/rate-limit.ts';
import type { ErrorFormatter } from '../request/errors.ts';
import { contextOf } from '../request/request-context.ts';
import { unavailableOf } from '../request/unavailable.ts';
import { readOperation, readOperationOfUrl } from './admission/read-operation.ts';
import { needsStream, refusedAnswer, type TransportOptions } from './admission/transport.ts';
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

/** Starts Apollo Server over the federation. Fails when it can't load the schema. */
export async function createHttpTransport(options: HttpTransportOptions): Promise<HttpTransport> {
  const { federation, errors, logger, introspection } = options;
  const server = new ApolloServer<RequestContext>({
    gateway: federation.gateway,
    introspection,
    includeStacktraceInErrorResponses: false,
    allowBatchedHttpRequests: false,
    // A hash instead of a text would bypass admission, and saves bytes only.
    persistedQueries: false,
    csrfPrevention: { requestHeaders: [...PREFLIGHT_HEADERS] },
    stopOnTerminationSignals: false,
    // Kiln has its own setting; Apollo Server would read NODE_ENV.
    nodeEnv: 'production',
    logger: { debug: () => undefined, info: () => undefined, warn: logger.warn, error: logger.error },
    plugins: [
      ApolloServerPluginLandingPageDisabled(),
      ApolloServerPluginCacheControlDisabled(),
      maskErrors(errors),
    ],
  });
  await server.start();
  return {
    handlers: [
      admitOverHttp(options),
      expressMiddleware(server, { context: async ({ req }) => contextOf(req) }),
    ],
    close: async () => server.stop(),
  };
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

/** Apollo Server formats errors without the request; here they get our format, and the traceId. */
function maskErrors(errors: ErrorFormatter): ApolloServerPlugin<RequestContext> {
  return {
    async requestDidStart() {
      return {
        async willSendResponse({ response, contextValue, errors: found }) {
          if (response.body.kind !== 'single' || !found?.length) return;
          const { traceId } = contextValue.caller;
          const shown = found.map((error) => errors.formatError(error, traceId));
          response.body.singleResult.errors = shown;
          const away = unavailableOf(response.body.singleResult);
          if (away !== null) response.http.status = away.status;
          const seconds = away?.retryAfterSeconds ?? retryAfterOf(shown);
          if (seconds > 0) response.http.headers.set('retry-after', String(seconds));
        },
      };
    },
  };
}

/** The longest wait that errors ask for, in seconds; 0 when none does. */
function retryAfterOf(errors: readonly GraphQLFormattedError[]): number {
  const waits = errors.map(({ extensions }) => extensions?.['retryAfter']);
  return Math.max(0, ...waits.filter((wait) => typeof wait === 'number'));
}
