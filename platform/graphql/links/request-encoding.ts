import { activeTraceparent, parseTraceparent } from '../../tracing/span.ts';
import { CALLER_HEADER, type CallerSigner, operationHash } from '../assertions/caller-assertion.ts';
import type { RequestContext } from '../operations/executor.ts';
import type { SubgraphRequest } from '../operations/subgraph.ts';
import { REQUEST_BYTES_HEADER, findRequestBytes } from '../uploads/request-bytes.ts';
import { type ExtractedUploads, multipartRequest } from '../uploads/upload-forwarding.ts';

/** What a subgraph is told of callers. */
export interface CallerHeaders {
  /** Makes caller assertions; absent for a foreign subgraph. */
  readonly sign?: CallerSigner | undefined;
  /** Sends the callers' own bearer tokens along. */
  readonly passesBearer?: boolean | undefined;
  /** Changes the headers that it gets (default: the bearer token alone). */
  readonly headersFor?:
    | ((context: RequestContext, own: Readonly<Record<string, string>>) => Record<string, string>)
    | undefined;
}

/** The headers and the body of a request over HTTP: JSON, or a form with its uploads. `path` is that of the subgraph's GraphQL. */
export async function encode(
  { query, operationName, variables, context }: SubgraphRequest,
  extracted: ExtractedUploads,
  options: CallerHeaders & { readonly endpoints: { readonly path: string } },
) {
  const { sign, endpoints } = options;
  const operation = operationName === undefined ? { query } : { query, operationName };
  const own = ownHeaders(context, options, traceContext(context, sign !== undefined));
  const asserted =
    sign &&
    (await sign(context.caller, {
      method: 'POST',
      path: endpoints.path,
      body: operationHash({ ...operation, variables: extracted.variables }),
    }));
  const credentials = asserted === undefined ? own : { ...own, [CALLER_HEADER]: asserted };
  if (extracted.uploads.size === 0) {
    const headers = { 'content-type': 'application/json', accept: 'application/json', ...credentials };
    return { headers, body: JSON.stringify({ ...operation, variables }) };
  }
  const form = multipartRequest(operation, extracted);
  // The second header tells the subgraph's CSRF protection that this is not a browser's form.
  const [bytes] = [...extracted.uploads.keys()].map(findRequestBytes);
  const headers = {
    'content-type': form.contentType,
    'apollo-require-preflight': 'true',
    ...(bytes != null && { [REQUEST_BYTES_HEADER]: String(bytes) }),
    ...credentials,
  };
  return { headers: { ...headers, accept: 'application/json' }, body: form.body };
}

/** What a subgraph gets of a caller, and what else is sent with a request that is for that caller alone. */
export function ownHeaders(
  context: RequestContext,
  { passesBearer = false, headersFor }: CallerHeaders,
  besides: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const { bearer } = context.caller;
  const own =
    passesBearer && bearer !== undefined ? { authorization: `Bearer ${bearer}`, ...besides } : besides;
  return headersFor === undefined ? own : headersFor(context, own);
}

/** The active span; without tracing a foreign subgraph gets its caller's, whose trace then goes on behind the gateway. */
export function traceContext({ headers }: RequestContext, isOurs = false): Readonly<Record<string, string>> {
  const active = activeTraceparent();
  if (active !== null) return { traceparent: active };
  const callers = headers?.['traceparent'];
  return !isOurs && typeof callers === 'string' && parseTraceparent(callers) !== null
    ? { traceparent: callers }
    : {};
}
