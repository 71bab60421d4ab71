import type { IncomingMessage } from 'node:http';

import { AppError } from '../../platform/errors.ts';
import { answerGraphql } from '../authentication/authenticate.ts';
import { peekBody } from '../request/peeked-body.ts';
import { contextOf } from '../request/request-context.ts';
import type { Exchange, Step } from '../request/steps.ts';
import type { Cells } from './cells-file.ts';
import { cellOfBody, IS_GRAPHQL, LOOKED_AT_BYTES } from './named-bodies.ts';
import { cellOfAddress } from './named-cells.ts';
import { type CellProxy, PASSED_ON } from './pass-on.ts';

/** The steps that pass requests for another cell on to it. */

/** Largest body that is looked into before it is known whose it is. */
const SMALL_BODY_BYTES = 64 * 1024;
/** What each cell says of itself. */
const OF_EACH = /^\/(?:console|cells|caller|hooks|sandbox)(?:\/|$)/;

/** What a request goes through on its way. */
export interface CellSteps {
  /** By its address or a small body, before anybody looks at its credential: the other cell does. */
  readonly first: Step;
  /** By a body that is large, compressed or of unknown length, once its caller is known: strangers have none of these read. */
  readonly whenKnown: Step;
}

/** How requests are looked into. */
interface CellStepOptions {
  readonly cells: Cells;
  readonly proxy: CellProxy;
  /** Whether strangers may send bodies of any size, as where nobody needs a credential. */
  readonly isOpen: boolean;
}

/** Makes the steps. */
export function passOnToCells({ cells, proxy, isOpen }: CellStepOptions): CellSteps {
  return {
    first(exchange) {
      const { request } = exchange;
      if (isOfThisCell(exchange)) return true;
      const cell = cellOfAddress(request.url ?? '/', cells);
      if (cell !== null) return passOn(exchange, cell);
      return hasBody(request) && isSmall(request) ? byBody(exchange) : true;
    },
    whenKnown(exchange) {
      const { request } = exchange;
      if (!hasBody(request) || isSmall(request) || isOfThisCell(exchange)) return true;
      return isOpen || contextOf(request).caller.kind !== 'anonymous' ? byBody(exchange) : true;
    },
  };

  async function byBody(exchange: Exchange): Promise<boolean> {
    const { request, response, path } = exchange;
    const bytes = await peekBody(request, LOOKED_AT_BYTES);
    if (bytes === null) return true;
    // Node drains what nobody has read of a body, before the connection's next request, but not of one that was looked into.
    if (!request.complete) response.once('finish', () => void request.resume());
    const cell = await cellOfBody({ path, headers: request.headers, bytes }, cells);
    return cell === null || passOn(exchange, cell);
  }

  async function passOn(exchange: Exchange, cell: number): Promise<false> {
    try {
      await proxy.passOn(exchange, cell);
    } catch (thrown) {
      if (!(thrown instanceof AppError) || !IS_GRAPHQL.test(exchange.path)) throw thrown;
      answerGraphql(exchange.response, thrown);
    }
    return false;
  }
}

function isOfThisCell({ request, path }: Exchange): boolean {
  return request.headers[PASSED_ON] !== undefined || OF_EACH.test(path);
}

function hasBody({ method, headers }: IncomingMessage): boolean {
  if (method === 'GET' || method === 'HEAD') return false;
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/** Of a known and small length, also when it is read. */
function isSmall({ headers }: IncomingMessage): boolean {
  const length = headers['content-encoding'] === undefined ? Number(headers['content-length']) : NaN;
  return length <= SMALL_BODY_BYTES;
}
