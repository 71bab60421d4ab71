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
 * many logs have `after` instead, and events with a `cursor`, which is their id.
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
export const BY_CURSOR: ResumePoint = {
  argument: 'after',
  type: 'String',
  variable: 'kilnResumeFrom',
  aliases: { cursor: 'kilnResumeCursor' },
};

/** The same before its first entry, whose cursor nobody has. */
export const BY_MOMENT: ResumePoint = {
  ...BY_CURSOR,
  argument: 'since',
  type: 'DateTime',
  variable: 'kilnResumeSince',
};

/** The subscription rewritten to say where its events are; null when its root field does not go by this point. */
export function makeResumable(options: {
  readonly request: OperationRequest;
  readonly document: DocumentNode;
  readonly schema: GraphQLSchema;
  readonly point: ResumePoint;
  /** After what it goes on: what the client sent as `Last-Event-ID`, when it is of this kind. */
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

/** Where an event is in its stream: a number, or a cursor. */
export type EventId = number | string;

const ALIASES = [BY_NUMBER, BY_CURSOR].flatMap(({ aliases }) => Object.values(aliases));

/** Removes our alias from a result: the result that the client requested, and the id of the event if it has one. */
export function takeEventId(result: ExecutionResult): { result: ExecutionResult; id: EventId | undefined } {
  let id: EventId | undefined;
  if (!result.data) return { result, id };
  const data = Object.fromEntries(
    Object.entries(result.data).map(([key, value]) => {
      if (typeof value !== 'object' || value === null) return [key, value];
      const alias = ALIASES.find((one) => one in value);
      if (alias === undefined) return [key, value];
      const { [alias]: mark, ...rest } = value as Readonly<Record<string, unknown>>;
      if (typeof mark === 'number' || typeof mark === 'string') id = mark;
      return [key, rest];
    }),
  );
  return { result: { ...result, data }, id };
}

/** Longest cursor. */
const MAX_CURSOR = 8_000;

/** What a Last-Event-ID header says; undefined for anything else. */
export function parseEventId(header: string | undefined): EventId | undefined {
  if (header === undefined || header.length > MAX_CURSOR) return undefined;
  if (/^\d{1,10}$/.test(header)) return Number(header) < 2 ** 31 ? Number(header) : undefined;
  return /^p[\w-]+$/.test(header) ? header : undefined;
}

function onlyOperation(document: DocumentNode, operationName: string | undefined): DocumentNode {
  const separated = separateOperations(document);
  return separated[operationName ?? ''] ?? Object.values(separated)[0] ?? document;
}
