import type { IncomingMessage, ServerResponse } from 'node:http';

import type {
  AnswerPart,
  AnswerParts,
  IncrementalPart,
} from '../../../platform/graphql/operations/answers.ts';
import type { StreamFormat } from '../../../platform/graphql/operations/executor.ts';
import type { ErrorFormatter } from '../../request/errors.ts';
import { requireContext } from '../../request/request-context.ts';
import { CREDENTIAL_ENDED } from '../admission/transport.ts';
import type { ResponseStreams } from './response-stream.ts';

/**
 * Answers in parts over `multipart/mixed;deferSpec=20220824`, which Apollo Client asks for. As with subscriptions the delimiter after a part is
 * written together with it.
 */

const DELIMITER = '\r\n--graphql';

const ended = (more: object): string => `${printPart({ ...more, hasNext: false })}--\r\n`;

const FORMAT: StreamFormat = {
  headers: {
    'Content-Type': 'multipart/mixed;boundary="graphql";deferSpec=20220824',
    'Cache-Control': 'no-store',
    'X-Accel-Buffering': 'no',
  },
  opening: DELIMITER,
  // The protocol has none; a fetch ends before proxies lose patience.
  heartbeat: '',
  shutdown: () => ended({}),
  credentialEnd: ended({ errors: [CREDENTIAL_ENDED] }),
};

/** Sends an answer in parts. */
type SendParts = (parts: AnswerParts) => Promise<void>;

/** Takes a stream for an answer in parts, before anything runs; null when too many are open. */
export type ReserveParts = (request: IncomingMessage, response: ServerResponse) => SendParts | null;

/** Makes it. */
export function createPartSender(options: {
  readonly errors: ErrorFormatter;
  readonly streams: ResponseStreams;
}): ReserveParts {
  const { errors, streams } = options;
  return (request, response) => {
    const { caller } = requireContext(request);
    const permit = streams.reserve(response, { request, caller });
    if (permit === null) return null;
    return async (parts) => {
      const stream = permit.open(FORMAT);
      for await (const part of parts)
        if (!(await stream.send(printPart(shownPart(part, errors, caller.traceId))))) break;
      stream.end('--\r\n');
    };
  };
}

function shownPart(part: AnswerPart, errors: ErrorFormatter, traceId: string): object {
  const { incremental, hasNext, ...first } = part;
  const shown = <Shown extends AnswerPart | IncrementalPart>({
    errors: own,
    ...one
  }: Omit<Shown, 'hasNext'>) => ({
    ...one,
    ...(own !== undefined && { errors: own.map((error) => errors.formatError(error, traceId)) }),
  });
  return {
    ...shown(first),
    ...(incremental !== undefined && { incremental: incremental.map(shown) }),
    hasNext,
  };
}

function printPart(part: object): string {
  return `\r\ncontent-type: application/json; charset=utf-8\r\n\r\n${JSON.stringify(part)}${DELIMITER}`;
}

/** Whether a client takes answers in parts. */
export function acceptsParts({ method, headers: { accept = '' } }: IncomingMessage): boolean {
  return method === 'POST' && /multipart\/mixed/i.test(accept) && /deferSpec="?20220824/i.test(accept);
}
