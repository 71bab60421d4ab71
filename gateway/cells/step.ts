import { GraphQLError } from 'graphql';

import { AppError } from '../../platform/errors.ts';
import { answerGraphql } from '../authentication/authenticate.ts';
import type { Exchange, Step } from '../request/steps.ts';
import { takeBody } from '../request/taken-body.ts';
import { readOperation } from '../transports/admission/read-operation.ts';
import type { Cells } from './cells-file.ts';
import { cellOfAddress, cellOfOperation } from './named-cells.ts';
import { type CellProxy, PASSED_ON } from './pass-on.ts';

/** Largest GraphQL body in which ids are looked for; larger ones are served here. */
const MAX_BODY_BYTES = 64 * 1024;
const IS_GRAPHQL = /^\/graphql\/?$/;
/** What each cell says of itself. */
const OF_EACH = /^\/(?:console|cells|caller|hooks|sandbox)(?:\/|$)/;

/** The step that passes requests for another cell on to it, before anybody looks at their credential: the other cell does. */
export function passOnToCells(cells: Cells, proxy: CellProxy): Step {
  return (exchange) => {
    const { request, path } = exchange;
    if (request.headers[PASSED_ON] !== undefined || OF_EACH.test(path)) return true;
    const cell = cellOfAddress(request.url ?? '/', cells);
    if (cell !== null) return passOn(exchange, cell);
    return hasSmallOperation(exchange) ? byBody(exchange) : true;
  };

  async function byBody(exchange: Exchange): Promise<boolean> {
    const body = await takeBody(exchange.request);
    if (body === null || body === 'unreadable') return true;
    const operation = readOperation(body.value);
    const cell = operation instanceof GraphQLError ? null : cellOfOperation(operation, cells);
    return cell === null || passOn(exchange, cell, Buffer.from(JSON.stringify(body.value)));
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

function hasSmallOperation({ request: { method, headers }, path }: Exchange): boolean {
  const length = Number(headers['content-length']);
  return (
    method === 'POST' &&
    IS_GRAPHQL.test(path) &&
    headers['content-type']?.startsWith('application/json') === true &&
    headers['content-encoding'] === undefined &&
    length > 0 &&
    length <= MAX_BODY_BYTES
  );
}
