import { type ExecutionResult, GraphQLError } from 'graphql';

import { noteWhole } from '../../platform/graphql/operations/answers.ts';
import { withExtensions } from '../../platform/graphql/operations/errors.ts';
import type { RequestContext } from '../../platform/graphql/operations/executor.ts';
import type { Logger } from '../../platform/process/logger.ts';
import { type ErrorInclusion, HEADER_VALUE, type HeaderRule, type ResponseRule } from './subgraph.schema.ts';

/** Applies rules to the headers that a subgraph would get anyway (the caller's bearer token), in their order. */
export function createHeaderRules(
  rules: readonly HeaderRule[],
): (context: RequestContext, own: Readonly<Record<string, string>>) => Record<string, string> {
  const removed = new Set(rules.flatMap((rule) => ('remove' in rule ? [rule.remove] : [])));
  return ({ headers: received = {}, caller }, own) => {
    const sent: Record<string, string> = {};
    // Left out at once: an object that something was deleted from is slow to read.
    for (const [name, value] of Object.entries(own)) if (!removed.has(name)) sent[name] = value;
    for (const rule of rules) {
      if ('insert' in rule) sent[rule.insert] = rule.value;
      else if ('remove' in rule) delete sent[rule.remove];
      else if ('claim' in rule) {
        const value = formatClaim(caller.claims?.[rule.claim]);
        // What a caller might have written there before is not theirs to say.
        if (value === undefined) delete sent[rule.as];
        else sent[rule.as] = value;
      } else {
        const value = received[rule.propagate];
        if (value !== undefined)
          sent[rule.as ?? rule.propagate] = Array.isArray(value) ? value.join(', ') : String(value);
      }
    }
    return sent;
  };
}

/** A claim as a header; undefined where it is absent, or can't be one. */
function formatClaim(claim: unknown): string | undefined {
  if (claim === undefined || claim === null) return undefined;
  const text = typeof claim === 'object' ? JSON.stringify(claim) : `${claim as string | number}`;
  return HEADER_VALUE.test(text) ? text : undefined;
}

/** Makes what callers see of the errors that a subgraph says. */
export function createErrorInclusion(
  inclusion: ErrorInclusion,
  { subgraph, logger }: { readonly subgraph: string; readonly logger: Logger },
): (result: ExecutionResult, traceId: string) => ExecutionResult {
  return (result, traceId) => {
    if (result.errors === undefined) return result;
    const errors = result.errors.map((error) => {
      if (inclusion === 'whole') return noteWhole(error);
      logger.warn(
        { subgraph, traceId, message: error.message, path: error.path },
        'an error of a subgraph is not shown',
      );
      const { code } = error.extensions;
      const isShown = inclusion === 'codes' && typeof code === 'string';
      return isShown
        ? noteWhole(withExtensions(error, `the subgraph says ${code}`, { code }))
        : withExtensions(new GraphQLError('internal error', { path: error.path ?? null }), 'internal error', {
            code: 'INTERNAL',
            traceId,
          });
    });
    return { ...result, errors };
  };
}

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
