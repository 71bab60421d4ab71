import type { IncomingMessage, ServerResponse } from 'node:http';

import { requestSlot } from '../../platform/request-slot.ts';

/** A request on its way to what serves it. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Its path without that of PUBLIC_URL, and without the query. */
  readonly path: string;
}

/** A rule of requests: false when it has responded, so that nothing after it runs. */
export type Step = (exchange: Exchange) => boolean | Promise<boolean>;

/**
 * Makes one step of several, in their order. A request goes through them once: what the fast path hands over to the Express
 * pipeline, which begins with the same steps, is not counted or looked up again.
 */
export function inOrder(...steps: readonly Step[]): Step {
  const passed = requestSlot<IncomingMessage, true>('passed');
  return (exchange) => {
    if (passed.of(exchange.request) === true) return true;
    passed.keep(exchange.request, true);
    return runFrom(0, steps, exchange);
  };
}

/** Waits only where a step does: each promise more is paid by every request. */
function runFrom(first: number, steps: readonly Step[], exchange: Exchange): ReturnType<Step> {
  for (const [index, step] of steps.entries()) {
    if (index < first) continue;
    const goesOn = step(exchange);
    if (goesOn === false) return false;
    if (goesOn === true) continue;
    if (index === steps.length - 1) return goesOn;
    return goesOn.then((answer) => answer && runFrom(index + 1, steps, exchange));
  }
  return true;
}

/** The paths of GraphQL and MCP, in either case, as Express matches paths. */
export const IS_GRAPHQL = /^\/graphql\/?$/i;
export const IS_MCP = /^\/mcp\/?$/i;

/** Adds the name of a header to those by which a response varies. */
export function addVary(response: ServerResponse, header: string): void {
  response.setHeader('Vary', [response.getHeader('Vary') ?? [], header].flat().join(', '));
}

/** Sends a body as JSON. */
export function sendJson(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.statusCode = status;
  // As a string: Node then sends head and body in one write.
  response.end(text);
}

/**
 * Whether an Accept header names HTML: tools that accept anything, or name JSON or a stream, get the API.
 */
export function prefersHtml(accept = ''): boolean {
  return (
    /(^|,)\s*text\/html\b/i.test(accept) &&
    !/event-stream|application\/(graphql-response\+)?json/i.test(accept)
  );
}
