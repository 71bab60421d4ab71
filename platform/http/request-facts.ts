import type { ServerResponse } from 'node:http';

import { requestSlot } from '../request-slot.ts';

/** What handlers learn of a request, for the metrics and the log line that are written when its response ends. */
interface RequestFacts {
  /** The template of its path, which bounds the values of a label. */
  readonly route?: string;
  /** Root fields of a GraphQL operation that changes something. */
  readonly changes?: readonly string[];
}

const facts = requestSlot<ServerResponse, RequestFacts>('facts');

/** Adds facts to a request, by its response. */
export function noteRequest(response: ServerResponse, more: RequestFacts): void {
  facts.keep(response, { ...facts.of(response), ...more });
}

/** What is known of a request. */
export function readFacts(response: ServerResponse): RequestFacts {
  return facts.of(response) ?? {};
}
