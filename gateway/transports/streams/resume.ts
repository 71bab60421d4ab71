import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  print,
  separateOperations,
} from 'graphql';

import type { OperationRequest } from '../admission/read-operation.ts';
import { type ResumePoint, rewriteSubscription } from './rewrite-subscription.ts';

/**
 * `Last-Event-ID` for GraphQL. Numbered event streams have a root field with `afterSeq` and events with a `seq`. The
 * document is rewritten to select `seq` under an alias, which becomes the SSE event id and is removed from the result.
 * A client that reconnects with `Last-Event-ID: N` gets the subscription with `afterSeq: N`, which replaces the value
 * of the document or its variables; it is a variable, so that one document is planned once for all reconnects. Streams of
 * many logs, which have `since` instead, are taken up again after a moment.
 */

const SEQ_ALIAS = 'kilnResumeSeq';

/** A log whose entries have numbers. */
export const BY_NUMBER: ResumePoint = {
  argument: 'afterSeq',
  type: 'Int',
  variable: 'kilnResumeAfter',
  aliases: { seq: SEQ_ALIAS },
};

/** The logs of many tasks as one stream. */
export const BY_MOMENT: ResumePoint = {
  argument: 'since',
  type: 'DateTime',
  variable: 'kilnResumeSince',
  aliases: { at: 'kilnResumeAt', seq: 'kilnResumeEntry', task: 'kilnResumeTask' },
};

/** The subscription rewritten to say where its events are; null when its root field does not go by this point. */
export function makeResumable(options: {
  readonly request: OperationRequest;
  readonly document: DocumentNode;
  readonly schema: GraphQLSchema;
  readonly point: ResumePoint;
  /** After what it goes on: the number in `Last-Event-ID`, when the client sent one. */
  readonly after: number | string | undefined;
}): OperationRequest | null {
  const { request, document, schema, point, after } = options;
  const root = schema.getSubscriptionType();
  if (!root) return null;
  const rewritten = rewriteSubscription({
    document: onlyOperation(document, request.operationName),
    root,
    point,
    isResuming: after !== undefined,
  });
  if (rewritten === undefined) return null;
  return {
    query: print(rewritten.document),
    operationName: request.operationName,
    variables:
      after === undefined ? request.variables : { ...request.variables, [rewritten.variable]: after },
  };
}

/** Removes our alias from a result: the result that the client requested, and the number of the event if it has one. */
export function takeSeq(result: ExecutionResult): { result: ExecutionResult; seq: number | undefined } {
  const taken = takeMarks(result, BY_NUMBER);
  const seq = taken.marks?.['seq'];
  return { result: taken.result, seq: typeof seq === 'number' ? seq : undefined };
}

/** Removes our aliases from a result; what was there, by field, or null where there was nothing of ours. */
export function takeMarks(
  result: ExecutionResult,
  { aliases }: ResumePoint,
): { readonly result: ExecutionResult; readonly marks: Readonly<Record<string, unknown>> | null } {
  if (!result.data) return { result, marks: null };
  let marks: Record<string, unknown> | null = null;
  const data = Object.fromEntries(
    Object.entries(result.data).map(([key, value]) => {
      const own = Object.entries(aliases);
      if (typeof value !== 'object' || value === null || !own.some(([, alias]) => alias in value))
        return [key, value];
      const rest = { ...(value as Record<string, unknown>) };
      marks = Object.fromEntries(own.map(([field, alias]) => [field, rest[alias]]));
      for (const [, alias] of own) delete rest[alias];
      return [key, rest];
    }),
  );
  return { result: { ...result, data }, marks };
}

/** The event number of a Last-Event-ID header; undefined for anything else. */
export function seqOfEventId(header: string | undefined): number | undefined {
  return header !== undefined && /^\d{1,10}$/.test(header) && Number(header) < 2 ** 31
    ? Number(header)
    : undefined;
}

function onlyOperation(document: DocumentNode, operationName: string | undefined): DocumentNode {
  const separated = separateOperations(document);
  return separated[operationName ?? ''] ?? Object.values(separated)[0] ?? document;
}
