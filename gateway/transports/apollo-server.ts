import { ApolloServer, type ApolloServerPlugin } from '@apollo/server';
import {
  ApolloServerPluginCacheControlDisabled,
  ApolloServerPluginLandingPageDisabled,
} from '@apollo/server/plugin/disabled';
import { expressMiddleware } from '@as-integrations/express5';
import type { RequestHandler } from 'express';

import type { RequestContext } from '../../platform/graphql/operations/executor.ts';
import { PREFLIGHT_HEADERS } from '../../platform/graphql/uploads/uploads.ts';
import { type ErrorFormatter, findRetryAfter, findUnavailable, forbidStoring } from '../request/errors.ts';
import { requireContext } from '../request/request-context.ts';
import type { TransportOptions } from './admission/transport.ts';

/** Apollo Server as a handler of operations that were admitted. */
export interface ApolloHandler {
  readonly handle: RequestHandler;
  stop(): Promise<void>;
}

/** Starts Apollo Server over the federation. Fails when it can't load the schema. */
export async function startApolloServer({
  federation,
  errors,
  logger,
  introspection,
}: TransportOptions & { readonly introspection: boolean }): Promise<ApolloHandler> {
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
    handle: expressMiddleware(server, { context: async ({ req }) => requireContext(req) }),
    stop: () => server.stop(),
  };
}

/** Apollo Server formats errors without the request; here they get our format, and the traceId. */
function maskErrors(errors: ErrorFormatter): ApolloServerPlugin<RequestContext> {
  return {
    async requestDidStart() {
      return {
        async willSendResponse({ response, contextValue, errors: found }) {
          if (response.body.kind !== 'single' || !found?.length) return;
          if (contextValue.response !== undefined) forbidStoring(contextValue.response);
          const { traceId } = contextValue.caller;
          const shown = found.map((error) => errors.formatError(error, traceId));
          response.body.singleResult.errors = shown;
          const away = findUnavailable(response.body.singleResult);
          if (away !== null) response.http.status = away.status;
          const seconds = findRetryAfter(response.body.singleResult);
          if (seconds > 0) response.http.headers.set('retry-after', String(seconds));
        },
      };
    },
  };
}
