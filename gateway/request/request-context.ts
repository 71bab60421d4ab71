import type { IncomingMessage, ServerResponse } from 'node:http';

import type { Caller } from '../../platform/access/caller.ts';
import type { RequestContext, StreamPermit } from '../../platform/graphql/operations/executor.ts';
import { disconnectSignal } from '../../platform/http/server.ts';
import { newTraceId } from '../../platform/ids.ts';
import { requestSlot } from '../../platform/request-slot.ts';
import { parseTraceparent } from '../../platform/tracing/span.ts';

const contexts = requestSlot<IncomingMessage, RequestContext>('context');
const traceIds = requestSlot<IncomingMessage, string>('trace id');

/** Reserves a stream for the answer to a caller; null when too many are open. */
export type ReserveStream = (
  response: ServerResponse,
  requester: { readonly request: IncomingMessage; readonly caller: Caller },
) => StreamPermit | null;

/**
 * Attaches the caller, a signal that is aborted when the client disconnects, and what opens a stream as the answer. Called once per
 * request.
 */
export function attachContext(
  request: IncomingMessage,
  response: ServerResponse,
  caller: Caller,
  reserveStream?: ReserveStream,
): void {
  contexts.keep(request, {
    caller,
    signal: disconnectSignal(response),
    headers: request.headers,
    response,
    reserveStream: reserveStream && (() => reserveStream(response, { request, caller })),
  });
}

/** The context of a request. Throws when none was attached. */
export function requireContext(request: IncomingMessage): RequestContext {
  const context = contexts.of(request);
  if (context === undefined) throw new Error('the request has no caller yet');
  return context;
}

/** Whether the caller is known yet: some requests are refused before. */
export function hasContext(request: IncomingMessage): boolean {
  return contexts.of(request) !== undefined;
}

/** The trace id of a valid W3C `traceparent`, else a new one; the same for every call with one request. */
export function readTraceId(request: IncomingMessage): string {
  const known = traceIds.of(request);
  if (known !== undefined) return known;
  const { traceparent } = request.headers;
  const traceId =
    parseTraceparent(typeof traceparent === 'string' ? traceparent : null)?.traceId ?? newTraceId();
  traceIds.keep(request, traceId);
  return traceId;
}
