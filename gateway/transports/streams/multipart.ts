import type { IncomingMessage, ServerResponse } from 'node:http';

import type { StreamFormat } from '../../../platform/graphql/operations/executor.ts';
import { isStream, throwingAtItsEnd } from '../../../platform/graphql/operations/streams.ts';
import { requireContext } from '../../request/request-context.ts';
import { sendJson } from '../../request/steps.ts';
import type { Admitted } from '../admission/admission.ts';
import type { OperationRequest } from '../admission/read-operation.ts';
import { answerTooManyStreams, CREDENTIAL_ENDED, type TransportOptions } from '../admission/transport.ts';
import { followUnnumbered } from './keep-following.ts';
import { pumpResults, type ResponseStreams } from './response-stream.ts';

/**
 * Subscriptions over Apollo's multipart protocol (`multipart/mixed;subscriptionSpec=1.0`), which Apollo Client's
 * HttpLink supports and Apollo Server does not. The delimiter after a part is written together with it: clients deliver
 * a part only when they see the delimiter.
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
  shutdown: () =>
    `${printPart({
      payload: null,
      errors: [{ message: 'the server is stopping: subscribe again', extensions: { code: 'UNAVAILABLE' } }],
    })}--\r\n`,
  credentialEnd: `${printPart({ payload: null, errors: [CREDENTIAL_ENDED] })}--\r\n`,
};

/** Serves subscriptions as multipart responses. */
export type MultipartTransport = ReturnType<typeof createMultipartTransport>;

/** Options of the multipart transport. */
export interface MultipartOptions extends TransportOptions {
  readonly streams: ResponseStreams;
}

/** Makes the transport of subscriptions by POST. */
export function createMultipartTransport(options: MultipartOptions) {
  const { errors, streams } = options;
  return {
    /** Whether a client accepts multipart subscriptions. */
    accepts: acceptsMultipart,
    /** Serves an admitted subscription. */
    async stream(
      request: IncomingMessage,
      response: ServerResponse,
      operation: OperationRequest,
      admitted: Admitted['operation'],
    ): Promise<void> {
      const context = requireContext(request);
      const { caller } = context;
      const permit = streams.reserve(response, { request, caller });
      if (permit === null) return answerTooManyStreams(response);
      const { traceId } = caller;
      const outcome = await followUnnumbered(options, {
        ...admitted,
        request: { ...operation, context, transport: 'multipart' },
      });
      if (!isStream(outcome)) return sendJson(response, 200, errors.formatResult(outcome, traceId));
      if (response.destroyed) return void (await outcome.return?.());

      const stream = permit.open(FORMAT);
      const isDone = await pumpResults({
        results: throwingAtItsEnd(outcome),
        stream,
        print: (result) => printPart({ payload: errors.formatResult(result, traceId) }),
        onError: (error) =>
          `${printPart({ payload: null, errors: [errors.formatError(error, traceId)] })}--\r\n`,
      });
      if (isDone) stream.end('--\r\n');
    },
  };
}

function printPart(part: object): string {
  return `\r\ncontent-type: application/json\r\n\r\n${JSON.stringify(part)}${DELIMITER}`;
}

function acceptsMultipart(request: IncomingMessage): boolean {
  const accept = request.headers.accept ?? '';
  return (
    request.method === 'POST' && /multipart\/mixed/i.test(accept) && /subscriptionSpec="?1\.0/i.test(accept)
  );
}
