import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { EventSourceParserStream } from 'eventsource-parser/stream';

import { TASKS_CAPABILITY } from './protocol/exchange.ts';

/** Clients of the tests: the official one, and requests by hand for what it does not know. */

/** The official client, of either version of the protocol. */
export async function connect(
  url: string,
  version: 'modern' | 'legacy',
  headers: Readonly<Record<string, string>> = {},
): Promise<Client> {
  const mode = version === 'modern' ? ({ pin: '2026-07-28' } as const) : 'legacy';
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit: { headers } }),
  );
  return client;
}

/** An answer of JSON-RPC. */
export interface RpcAnswer {
  readonly status: number;
  readonly headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is the method's; tests assert it
  readonly result: any;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

interface RpcOptions {
  /** Whether it declares the tasks extension (default: yes). */
  readonly knowsTasks?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends one request of the version of July 2026. */
export async function send(
  url: string,
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  { knowsTasks = true, headers = {} }: RpcOptions = {},
): Promise<Response> {
  const name = params['name'] ?? params['uri'] ?? params['taskId'];
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
    'io.modelcontextprotocol/clientCapabilities': knowsTasks ? TASKS_CAPABILITY : {},
  };
  return fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof name === 'string' && { 'mcp-name': name }),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
  });
}

/** The same, and its answer. */
export async function rpc(...request: Parameters<typeof send>): Promise<RpcAnswer> {
  const response = await send(...request);
  const { result, error } = (await response.json()) as Pick<RpcAnswer, 'result' | 'error'>;
  return { status: response.status, headers: response.headers, result, ...(error && { error }) };
}

/** Calls a tool. */
export function call(url: string, name: string, args: object, options?: RpcOptions): Promise<RpcAnswer> {
  return rpc(url, 'tools/call', { name, arguments: args }, options);
}

/** The messages of a stream, to its end. */
export async function readMessages(response: Response): Promise<readonly StreamMessage[]> {
  const events = response.body
    ?.pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream());
  const messages: StreamMessage[] = [];
  for await (const { data } of events ?? []) messages.push(JSON.parse(data) as StreamMessage);
  return messages;
}

/** A notification, or the last answer. */
export interface StreamMessage {
  readonly method?: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape is the method's; tests assert it
  readonly params?: any;
  readonly result?: unknown;
}
