import type { ServerResponse } from 'node:http';

import type { ApolloServerOptionsWithGateway, BaseContext } from '@apollo/server';
import type { ExecutionResult, FormattedExecutionResult, GraphQLError, GraphQLSchema } from 'graphql';

import type { AnswerParts } from '../../../platform/graphql/operations/answers.ts';
import type { Documents } from '../../../platform/graphql/operations/documents.ts';
import { codedError } from '../../../platform/graphql/operations/errors.ts';
import type { GraphqlExecutor, GraphqlRequest } from '../../../platform/graphql/operations/executor.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import { rateHeaders } from '../../limits/rate-limit.ts';
import type { ErrorFormatter } from '../../request/errors.ts';
import { sendJson } from '../../request/steps.ts';
import type { Admission, Refusal } from './admission.ts';

/** What the transports need of the federation (gateway/federation). */
export interface ServedFederation extends GraphqlExecutor {
  /** For Apollo Server. */
  readonly gateway: ApolloServerOptionsWithGateway<BaseContext>['gateway'];
  /** The schema that callers see. */
  apiSchema(): GraphQLSchema;
  /** Runs a query or mutation, in parts where it defers some of its answer. */
  executeInParts(request: GraphqlRequest): Promise<AnswerParts | ExecutionResult>;
  /** The documents that were admitted, with their plans. */
  readonly documents: Pick<Documents, 'known' | 'add'>;
}

/** Gives a request the text that its hash stands for; an error where nothing is known of it. */
export type ExpandOperation = (body: unknown) => unknown;

/** Dependencies of every transport. */
export interface TransportOptions {
  readonly federation: ServedFederation;
  readonly admission: Admission;
  readonly errors: ErrorFormatter;
  readonly logger: Logger;
  /** Puts texts in the place of hashes (default: no hash is known). */
  readonly expand?: ExpandOperation | undefined;
  /** Milliseconds in which a broken subscription is taken up again, before its client is told (default 30,000). */
  readonly resumeMs?: number | undefined;
}

/** The last error of a stream whose caller's credential has ended. */
export const CREDENTIAL_ENDED = {
  message: 'the credential is not valid any more: subscribe again with another',
  extensions: { code: 'UNAUTHENTICATED' },
} as const;

/** The response to a refused operation, on transports with HTTP statuses. */
export function refusedAnswer(
  refusal: Refusal,
  errors: ErrorFormatter,
  traceId: string,
): { status: number; headers: Record<string, string>; body: FormattedExecutionResult } {
  return {
    status: refusal.status,
    headers: refusal.rate === undefined ? {} : rateHeaders(refusal.rate),
    body: { errors: refusal.errors.map((error) => errors.formatError(error, traceId)) },
  };
}

/** The refusal of a subscription on a transport that can not stay open. */
export function needsStream(): GraphQLError {
  return codedError(
    'BAD_REQUEST',
    'a subscription needs a transport that stays open: a WebSocket (graphql-transport-ws) at this address, ' +
      'Accept: text/event-stream, or Accept: multipart/mixed;subscriptionSpec=1.0',
  );
}

/** Responds that no stream can be opened now. */
export function answerTooManyStreams(response: ServerResponse): void {
  const message = 'too many open streams, or the server is stopping: try again later';
  response.setHeader('Retry-After', '5');
  sendJson(response, 503, { errors: [{ message, extensions: { code: 'UNAVAILABLE', retryAfter: 5 } }] });
}
