import type { DocumentNode, ExecutionResult, GraphQLSchema } from 'graphql';

import { PAID_SUBSCRIPTIONS, STATE_SUBSCRIPTIONS } from '../../../platform/access/root-field-rates.ts';
import type { OperationRequest } from '../admission/read-operation.ts';
import { BY_CURSOR, BY_MOMENT, BY_NUMBER, type EventId, makeResumable, takeEventId } from './resume.ts';
import type { ResumePoint } from './rewrite-subscription.ts';

/** What a follower has been given, and so where a stream that broke off goes on. */
export interface StreamMemory {
  /** What to subscribe to: at first what the client asked for, later what goes on after what it has; null: nothing does. */
  next(): OperationRequest | null;
  /** What of a result its client gets; null when it has that already. */
  pass(result: ExecutionResult): ExecutionResult | null;
}

export interface Subscribed {
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
