import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';

import { graphql } from '../../test/kit/clients/requests.ts';

/** One operation over every transport, as text: what an attacker reads. */

type Headers = Readonly<Record<string, string>>;
type Send = (url: string, query: string, headers: Headers, longestMs?: number) => Promise<string>;

/** Streams that tell nothing are left after so long, unless an answer is certain. */
const STREAM_MS = 3_000;

export const transports: Readonly<Record<string, Send>> = {
  HTTP: async (url, query, headers) => JSON.stringify(await graphql(url, query, {}, headers)),
  'server-sent events': (url, query, headers, longestMs) =>
    firstOfStream(url, query, { ...headers, accept: 'text/event-stream' }, longestMs),
  multipart: (url, query, headers, longestMs) => {
    const accept = 'multipart/mixed;subscriptionSpec=1.0, application/json';
    return firstOfStream(url, query, { ...headers, accept }, longestMs);
  },
  WebSocket: overWebSocket,
};

/** What comes until there is data or an error, or the stream ends. */
async function firstOfStream(
  ...[url, query, headers, longestMs = STREAM_MS]: Parameters<Send>
): Promise<string> {
  const leaving = new AbortController();
  const { body } = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ query }),
    signal: leaving.signal,
  });
  const timer = setTimeout(() => leaving.abort(), longestMs);
  let text = '';
  try {
    for await (const chunk of body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      if (/"(?:data|errors)"/.test(text)) break;
    }
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
  } finally {
    clearTimeout(timer);
  }
  return text;
}

function overWebSocket(url: string, query: string, headers: Headers): Promise<string> {
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    webSocketImpl: WebSocket,
    retryAttempts: 0,
    lazyCloseTimeout: 0,
    connectionParams: { ...headers },
  });
  return new Promise<string>((resolve) => {
    client.subscribe(
      { query },
      {
        next: (result) => resolve(JSON.stringify(result)),
        error: (error) =>
          resolve(
            Array.isArray(error)
              ? JSON.stringify(error)
              : `closed ${String((error as { code?: number }).code)}`,
          ),
        complete: () => resolve('complete'),
      },
    );
  }).finally(() => void client.dispose());
}
