import type { ServerResponse } from 'node:http';

/** Sends a body as JSON. */
export function sendJson(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.statusCode = status;
  // As a string: Node then sends head and body in one write.
  response.end(text);
}
