import { GraphQLError } from 'graphql';

import { AppError } from '../../platform/errors.ts';
import { answerGraphql } from '../authentication/authenticate.ts';
import { contextOf } from '../request/request-context.ts';
import type { Exchange, Step } from '../request/steps.ts';
import { type TakenBody, takenBodyOf, takeBytes } from '../request/taken-body.ts';
import { type OperationRequest, readOperation } from '../transports/admission/read-operation.ts';
import type { Cells } from './cells-file.ts';
import { cellOfAddress, cellOfMessage, cellOfOperations } from './named-cells.ts';
import { type CellProxy, PASSED_ON } from './pass-on.ts';

/** The steps that pass requests for another cell on to it. */

/** Largest body that is read before it is known whose it is. */
const SMALL_BODY_BYTES = 64 * 1024;
/** Largest body of a known caller: no endpoint whose bodies are looked into takes a larger one. */
const LARGE_BODY_BYTES = 1024 * 1024;
const IS_GRAPHQL = /^\/graphql\/?$/;
const IS_MCP = /^\/mcp\/?$/;
/** What each cell says of itself. */
const OF_EACH = /^\/(?:console|cells|caller|hooks|sandbox)(?:\/|$)/;

/** What a request goes through on its way. */
export interface CellSteps {
  /** By its address or a small body, before anybody looks at its credential: the other cell does. */
  readonly first: Step;
  /** By a large body, once its caller is known: strangers have none of that size read. */
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
      if (isOfThisCell(exchange)) return true;
      const cell = cellOfAddress(exchange.request.url ?? '/', cells);
      if (cell !== null) return passOn(exchange, cell);
      const length = lengthOfJson(exchange);
      return length > 0 && length <= SMALL_BODY_BYTES ? byBody(exchange) : true;
    },
    whenKnown(exchange) {
      const length = lengthOfJson(exchange);
      if (length <= SMALL_BODY_BYTES || length > LARGE_BODY_BYTES || isOfThisCell(exchange)) return true;
      const isKnown = isOpen || contextOf(exchange.request).caller.kind !== 'anonymous';
      return isKnown ? byBody(exchange) : true;
    },
  };

  async function byBody(exchange: Exchange): Promise<boolean> {
    const { request, path } = exchange;
    if (takenBodyOf(request) !== undefined) return true;
    const taken = await takeBytes(request);
    if (taken === null) return true;
    const cell = IS_MCP.test(path)
      ? cellOfMessage(valueOf(taken.body), cells)
      : cellOfOperations(operationsIn(valueOf(taken.body)), cells);
    return cell === null || passOn(exchange, cell, taken.bytes);
  }

  async function passOn(exchange: Exchange, cell: number, body?: Buffer): Promise<false> {
    try {
      await proxy.passOn(exchange, cell, body);
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

const valueOf = (body: TakenBody): unknown => (body === 'unreadable' ? null : body.value);

/** The operations of a body, which may be a batch; none where it is not understood: whoever serves it says so. */
function operationsIn(value: unknown): readonly OperationRequest[] {
  const operations = (Array.isArray(value) ? value : [value]).map(readOperation);
  return operations.filter(
    (operation): operation is OperationRequest => !(operation instanceof GraphQLError),
  );
}

/** Bytes of a body in which ids are looked for; 0 of any other. */
function lengthOfJson({ request: { method, headers }, path }: Exchange): number {
  const isLookedInto =
    method === 'POST' &&
    (IS_GRAPHQL.test(path) || IS_MCP.test(path)) &&
    headers['content-type']?.startsWith('application/json') === true &&
    headers['content-encoding'] === undefined;
  return isLookedInto ? Number(headers['content-length'] ?? 0) : 0;
}
