import type { IncomingMessage, IncomingHttpHeaders } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';

import busboy from 'busboy';
import { GraphQLError } from 'graphql';

import { AppError } from '../../platform/errors.ts';
import { answerGraphql } from '../authentication/authenticate.ts';
import { peekBody } from '../request/body.ts';
import { requireContext } from '../request/request-context.ts';
import { type Exchange, IS_GRAPHQL, IS_MCP, type Step } from '../request/steps.ts';
import {
  type OperationRequest,
  readOperation,
  readUrlOperation,
} from '../transports/admission/read-operation.ts';
import type { Cells } from './cells-file.ts';
import {
  cellOfAddress,
  cellOfMessage,
  cellOfOperations,
  cellOfValues,
  mayNameOthers,
} from './named-cells.ts';
import { type CellProxy, PASSED_ON } from './pass-on.ts';

/** Which cell a request is for by its body: JSON of any face, forms, and parts of forms that are no files. */

/** Bytes of a body, from its beginning, in which ids are looked for. */
const LOOKED_AT_BYTES = 1024 * 1024;

/** A body, and what says how to read it. */
interface ReceivedBody {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** From its beginning; of a long one not all. */
  readonly bytes: Buffer;
}

/** The other cell that a request is for by its body; null for this one, and where the body is not understood: whoever serves it says so. */
export async function findCellOfBody(body: ReceivedBody, cells: Cells): Promise<number | null> {
  const { path, headers } = body;
  const bytes = await expand(body);
  if (bytes === null || !mayNameOthers(bytes.toString('latin1'), cells)) return null;
  const type = headers['content-type'] ?? '';
  if (type.startsWith('multipart/')) {
    const fields = await readFields(bytes, type);
    if (!IS_GRAPHQL.test(path)) return cellOfValues(fields, cells);
    const [, operations = ''] = fields.find(([name]) => name === 'operations') ?? [];
    return cellOfOperations(operationsIn(parsed(operations)), cells);
  }
  const text = bytes.toString();
  if (type.startsWith('application/x-www-form-urlencoded'))
    return cellOfValues([...new URLSearchParams(text)], cells);
  const value = parsed(text);
  if (IS_GRAPHQL.test(path)) return cellOfOperations(operationsIn(value), cells);
  return IS_MCP.test(path) ? cellOfMessage(value, cells) : cellOfValues([['', value]], cells);
}

const EXPAND = { br: promisify(brotliDecompress), deflate: promisify(inflate), gzip: promisify(gunzip) };

/** The bytes without their compression; null where that is unknown, or they are too many. */
async function expand({ headers, bytes }: ReceivedBody): Promise<Buffer | null> {
  const encoding = headers['content-encoding']?.toLowerCase() ?? 'identity';
  if (encoding === 'identity') return bytes;
  if (!isKnown(encoding)) return null;
  return EXPAND[encoding](bytes, { maxOutputLength: LOOKED_AT_BYTES }).catch(() => null);
}

const isKnown = (encoding: string): encoding is keyof typeof EXPAND => Object.hasOwn(EXPAND, encoding);

function parsed(text: string): unknown {
  try {
    return JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text);
  } catch {
    return null;
  }
}

/** The operations of a body, which may be a batch. */
function operationsIn(value: unknown): readonly OperationRequest[] {
  const operations = (Array.isArray(value) ? value : [value]).map(readOperation);
  return operations.filter(
    (operation): operation is OperationRequest => !(operation instanceof GraphQLError),
  );
}

const MOST_FIELDS = 1_000;

/** The parts that are no files, of the bytes that are there: a form that is not whole has those before its end. */
async function readFields(bytes: Buffer, type: string): Promise<readonly (readonly [string, string])[]> {
  const fields: (readonly [string, string])[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  try {
    const form = busboy({ headers: { 'content-type': type }, limits: { fields: MOST_FIELDS } });
    form.on('field', (name, value) => fields.push([name, value]));
    form.on('file', (_name, file) => file.on('error', () => undefined).resume());
    form.once('error', () => resolve()).once('close', () => resolve());
    form.end(bytes);
    await promise;
  } catch {
    // It is no form.
  }
  return fields;
}

/** The steps that pass requests for another cell on to it. */

/** Largest body that is looked into before it is known whose it is. */
const SMALL_BODY_BYTES = 64 * 1024;
/** What each cell says of itself. */
const OF_EACH = /^\/(?:console|cells|caller|hooks|sandbox)(?:\/|$)/i;

/** What a request goes through on its way. */
export interface CellSteps {
  /** By its address or a small body, before anybody looks at its credential: the other cell does. */
  readonly first: Step;
  /** By a body that is large, compressed or of unknown length, once its caller is known: strangers have none of these read. */
  readonly whenKnown: Step;
}

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
      const cell = cellOfAddress(request.url ?? '/', cells) ?? cellOfUrlOperation(exchange, cells);
      if (cell !== null) return passOn(exchange, cell);
      return hasBody(request) && isSmall(request) ? byBody(exchange) : true;
    },
    whenKnown(exchange) {
      const { request } = exchange;
      if (!hasBody(request) || isSmall(request) || isOfThisCell(exchange)) return true;
      return isOpen || requireContext(request).caller.kind !== 'anonymous' ? byBody(exchange) : true;
    },
  };

  async function byBody(exchange: Exchange): Promise<boolean> {
    const { request, response, path } = exchange;
    const bytes = await peekBody(request, LOOKED_AT_BYTES);
    if (bytes === null) return true;
    // Node drains what nobody has read of a body, before the connection's next request, but not of one that was looked into.
    if (!request.complete) response.once('finish', () => void request.resume());
    const cell = await findCellOfBody({ path, headers: request.headers, bytes }, cells);
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

/** The other cell that a GraphQL operation in an address is for; null for this one. */
function cellOfUrlOperation({ request: { method, url = '/' }, path }: Exchange, cells: Cells): number | null {
  if (method !== 'GET' || !IS_GRAPHQL.test(path) || !mayNameOthers(url, cells)) return null;
  const operation = readUrlOperation(url);
  return operation instanceof GraphQLError ? null : cellOfOperations([operation], cells);
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
