import type { RequestContext } from '../../platform/graphql/operations/executor.ts';
import type { ResponseRule } from './subgraph.schema.ts';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Sends headers of a subgraph's answer to the caller: cookies of all subgraphs, of `cache-control` what allows least, of others the
 * last.
 */
export function createResponseRules(
  rules: readonly ResponseRule[],
): (context: RequestContext, headers: Headers) => void {
  return ({ response }, headers) => {
    if (response === undefined || response.headersSent) return;
    for (const { propagate, as = propagate } of rules) {
      const value = headers[propagate];
      if (value === undefined) continue;
      if (as === 'set-cookie') response.appendHeader(as, value);
      else if (as === 'cache-control')
        response.setHeader(as, strictest(response.getHeader(as), String(value)));
      else response.setHeader(as, value);
    }
  };
}

/** What both allow. */
function strictest(one: unknown, other: string): string {
  if (typeof one !== 'string') return other;
  const both = [one, other].map((text) => text.toLowerCase());
  if (both.some((text) => /no-store|no-cache/.test(text))) return 'no-store';
  const ages = both.map((text) => Number(/max-age=(\d+)/.exec(text)?.[1] ?? 0));
  const scope = both.some((text) => text.includes('private')) ? 'private' : 'public';
  return `max-age=${Math.min(...ages)}, ${scope}`;
}
