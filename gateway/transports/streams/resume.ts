import {
  type DocumentNode,
  type ExecutionResult,
  type GraphQLSchema,
  print,
  separateOperations,
} from 'graphql';

import { PAID_SUBSCRIPTIONS, STATE_SUBSCRIPTIONS } from '../../../platform/access/root-field-rates.ts';
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
const BY_NUMBER: ResumePoint = {
  argument: 'afterSeq',
  type: 'Int',
  variable: 'kilnResumeAfter',
  aliases: { seq: SEQ_ALIAS },
};

/** The logs of many tasks as one stream. */
const BY_CURSOR: ResumePoint = {
  argument: 'after',
  type: 'String',
  variable: 'kilnResumeFrom',
  aliases: { cursor: 'kilnResumeCursor' },
};

/** The same before its first entry, whose cursor nobody has. */
const BY_MOMENT: ResumePoint = {
  ...BY_CURSOR,
  argument: 'since',
  type: 'DateTime',
  variable: 'kilnResumeSince',
};

/** The subscription rewritten to say where its events are; null when its root field does not go by this point. */
function makeResumable(options: {
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

/** What a follower has been given, and so where a stream that broke off goes on. */
export interface StreamMemory {
  /** What to subscribe to: at first what the client asked for, later what goes on after what it has; null: nothing does. */
  next(): OperationRequest | null;
  /** What of a result its client gets; null when it has that already. */
  pass(result: ExecutionResult): ExecutionResult | null;
}

interface Subscribed {
  readonly request: OperationRequest;
  readonly document: DocumentNode;
  readonly schema: GraphQLSchema;
  /** Root fields of the operation. */
  readonly fields: readonly string[];
  /** After what the client itself resumes. */
  readonly after?: EventId | undefined;
}

/** Makes the memory of one subscription. */
export function createStreamMemory(subscribed: Subscribed): StreamMemory {
  const { request, fields, after } = subscribed;
  const ofClient = (point: ResumePoint) => (typeof after === TYPES[point.type] ? after : undefined);
  for (const point of [BY_NUMBER, BY_CURSOR]) {
    if (makeResumable({ ...subscribed, point, after: ofClient(point) }) !== null)
      return rememberPoint(subscribed, point, ofClient(point));
  }
  if (fields.some((field) => STATE_SUBSCRIPTIONS.includes(field))) return rememberState(request);
  let isFirst = true;
  return {
    next() {
      const isAgain = !isFirst;
      isFirst = false;
      return isAgain ? null : request;
    },
    pass: (result) => result,
  };
}

const TYPES: Readonly<Record<string, string>> = { Int: 'number', String: 'string' };

/** After the last entry. Results still have the id that `takeEventId` removes. */
function rememberPoint(
  subscribed: Subscribed,
  point: ResumePoint,
  ofClient: EventId | undefined,
): StreamMemory {
  const isPaid = subscribed.fields.some((field) => PAID_SUBSCRIPTIONS.includes(field));
  const openedAt = new Date();
  let last = ofClient;
  let isFirst = true;
  return {
    next() {
      const isAgain = !isFirst;
      isFirst = false;
      // Whether paid work has begun is only known from its first piece.
      if (isAgain && isPaid && last === undefined) return null;
      const isUnknown = isAgain && point === BY_CURSOR && last === undefined;
      return isUnknown
        ? makeResumable({ ...subscribed, point: BY_MOMENT, after: openedAt.toISOString() })
        : makeResumable({ ...subscribed, point, after: last });
    },
    pass(result) {
      last = takeEventId(result).id ?? last;
      return result;
    },
  };
}

/** A thing as it is, whenever it has changed: it is told again only when it is another one. */
function rememberState(request: OperationRequest): StreamMemory {
  let last: string | undefined;
  return {
    next: () => request,
    pass(result) {
      const text = JSON.stringify(result);
      if (text === last) return null;
      last = text;
      return result;
    },
  };
}
