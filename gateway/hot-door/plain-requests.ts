import type { IncomingMessage } from 'node:http';

/** Which requests are understood from their head alone. Pure. */

/** Larger bodies are not read before their request is counted. */
const MAX_BODY_BYTES = 64 * 1024;

const JSON_TYPE = /^application\/json(?:; ?charset=utf-8)?$/i;

const JSON_ANSWER = 'application/json; charset=utf-8';
const GRAPHQL_ANSWER = 'application/graphql-response+json; charset=utf-8';

/** What common clients accept, and the type of answer they get. */
const ANSWER_TYPES: ReadonlyMap<string | undefined, string> = new Map([
  [undefined, JSON_ANSWER],
  ['*/*', JSON_ANSWER],
  ['application/json', JSON_ANSWER],
  ['application/json, text/plain, */*', JSON_ANSWER],
  ['application/graphql-response+json, application/json', GRAPHQL_ANSWER],
  ['application/graphql-response+json,application/json;q=0.9', GRAPHQL_ANSWER],
  ['application/graphql-response+json, application/json;q=0.9', GRAPHQL_ANSWER],
]);

/** The type of the answer to a plain GraphQL request by POST; undefined for any other request. */
export function graphqlAnswerType(
  { method, url, headers }: IncomingMessage,
  path: string,
): string | undefined {
  if (method !== 'POST' || url !== path) return undefined;
  if (!JSON_TYPE.test(headers['content-type'] ?? '') || isUncommon(headers)) return undefined;
  const length = Number(headers['content-length']);
  return length > 0 && length <= MAX_BODY_BYTES ? ANSWER_TYPES.get(headers.accept) : undefined;
}

/** Whether a request is one of the documented paths, of whatever body: their routes read it. */
export function isRest(
  { method, url = '/', headers }: IncomingMessage,
  prefixes: readonly string[],
): boolean {
  return (
    method !== 'OPTIONS' && prefixes.some((prefix) => url.startsWith(prefix)) && !isUncommon(headers, false)
  );
}

/** Ways of sending that only the whole way knows. */
function isUncommon(headers: IncomingMessage['headers'], hasPlainBody = true): boolean {
  if (headers.expect !== undefined || headers.upgrade !== undefined) return true;
  return hasPlainBody && (headers['content-encoding'] ?? headers['transfer-encoding']) !== undefined;
}
