import type { Request, RequestHandler } from 'express';
import { GraphQLError } from 'graphql';

import { contextOf } from '../caller.ts';
import { rateHeaders } from '../rate-limit.ts';
import { readOperation } from './read-operation.ts';
import { pumpResults } from './response-stream.ts';
import type { ResponseStreams, StreamFormat } from './response-stream.ts';
import { answerFull, isResultStream, refusedAnswer } from './transport.ts';
import type { TransportOptions } from './transport.ts';

/**
 * Subscriptions by Apollo's multipart protocol (`multipart/mixed;subscriptionSpec=1.0`), which Apollo Client's HttpLink
 * speaks by itself and Apollo Server does not. The delimiter that ends a part is written together with the part:
 * clients deliver a part only when they see what follows it.
 */

const DELIMITER = '\r\n--graphql';

const FORMAT: StreamFormat = {
  headers: {
    'Content-Type': 'multipart/mixed;boundary="graphql";subscriptionSpec=1.0',
    'Cache-Control': 'no-store',
    'X-Accel-Buffering': 'no',
  },
  opening: DELIMITER + printPart({}),
  heartbeat: printPart({}),
  farewell: `${printPart({
    payload: null,
    errors: [{ message: 'the server is stopping: subscribe again', extensions: { code: 'UNAVAILABLE' } }],
  })}--\r\n`,
};

export interface MultipartOptions extends TransportOptions {
  readonly streams: ResponseStreams;
}

/** Handles subscriptions of clients that accept multipart; passes everything else on. Bodies must have been read before. */
export function createMultipartTransport({
  admission,
  errors,
  federation,
  streams,
}: MultipartOptions): RequestHandler {
  return async (request, response, next) => {
    if (!acceptsMultipart(request)) return next();
    const operation = readOperation(request.body);
    if (operation instanceof GraphQLError) return next();
    const inspected = admission.inspect(operation);
    if ('errors' in inspected || inspected.kind !== 'subscription') return next();
    if (!streams.hasRoom()) return answerFull(response);

    const context = contextOf(request);
    const { traceId } = context.caller;
    const verdict = await admission.admit(operation, context.caller);
    if ('errors' in verdict) {
      const { status, headers, body } = refusedAnswer(verdict, errors, traceId);
      return void response.status(status).set(headers).json(body);
    }
    if (verdict.rate !== undefined) response.set(rateHeaders(verdict.rate));
    const outcome = await federation.subscribe({ ...operation, context });
    if (!isResultStream(outcome)) return void response.json(errors.formatResult(outcome, traceId));
    if (response.destroyed) return void (await outcome.return?.());

    const stream = streams.open(response, FORMAT);
    const isDone = await pumpResults({
      results: outcome,
      stream,
      print: (result) => printPart({ payload: errors.formatResult(result, traceId) }),
      onError: (error) =>
        `${printPart({ payload: null, errors: [errors.formatError(error, traceId)] })}--\r\n`,
    });
    if (isDone) stream.end('--\r\n');
  };
}

function printPart(part: object): string {
  return `\r\ncontent-type: application/json\r\n\r\n${JSON.stringify(part)}${DELIMITER}`;
}

function acceptsMultipart(request: Request): boolean {
  const accept = request.headers.accept ?? '';
  return (
    request.method === 'POST' && /multipart\/mixed/i.test(accept) && /subscriptionSpec="?1\.0/i.test(accept)
  );
}
