import { createParser } from 'eventsource-parser';
import type { FormattedExecutionResult } from 'graphql-ws';

import { parseJson } from '../../json.ts';

/** Readers of the two ways in which events of a subscription come over HTTP. */

/** What is read of a stream. */
export interface EventSink {
  readonly next: (result: FormattedExecutionResult) => void;
  /** The subscription is over; with errors it has failed. */
  readonly end: (errors?: FormattedExecutionResult['errors']) => void;
}

/** Takes the text of a stream piece by piece. Throws when one event has more characters than `maxLength`. */
export type ReadPart = (text: string) => void;

/** Server-sent events of graphql-sse: `next` with a result, then `complete`. */
export function readServerSentEvents({ next, end }: EventSink, maxLength: number): ReadPart {
  let unread = 0;
  let isRead = false;
  const parser = createParser({
    onEvent({ event, data }) {
      isRead = true;
      if (event === 'complete') return end();
      const result = parseJson(data) as FormattedExecutionResult | null | undefined;
      if (typeof result !== 'object' || result === null) return;
      if (event === 'error') return end(result.errors ?? (Array.isArray(result) ? result : []));
      next(result);
    },
    onComment: () => void (isRead = true),
  });
  return (text) => {
    isRead = false;
    parser.feed(text);
    unread = isRead ? text.length : unread + text.length;
    if (unread > maxLength) throw new Error('an event of the subgraph is too large');
  };
}

/** Apollo's multipart subscriptions: parts with `{ payload }`, `{}` in between to stay awake. */
export function readMultipart({ next, end }: EventSink, boundary: string, maxLength: number): ReadPart {
  const delimiter = `--${boundary}`;
  let rest = '';
  const readOne = (part: string): void => {
    const at = part.indexOf('\r\n\r\n');
    const said = parseJson(at < 0 ? part : part.slice(at + 4)) as
      | {
          readonly payload?: FormattedExecutionResult | null;
          readonly errors?: FormattedExecutionResult['errors'];
        }
      | undefined;
    if (said?.errors !== undefined) return end(said.errors);
    if (said?.payload !== undefined && said.payload !== null) next(said.payload);
  };
  return (text) => {
    rest += text;
    for (let at = rest.indexOf(delimiter); at >= 0; at = rest.indexOf(delimiter)) {
      // What is behind tells whether it is the last.
      if (rest.length < at + delimiter.length + 2) break;
      const part = rest.slice(0, at);
      const isLast = rest.startsWith('--', at + delimiter.length);
      rest = rest.slice(at + delimiter.length);
      if (part.trim() !== '') readOne(part);
      if (isLast) return end();
    }
    if (rest.length > maxLength) throw new Error('an event of the subgraph is too large');
  };
}
