import type { DocumentNode, ExecutionResult, GraphQLSchema } from 'graphql';

import { PAID_SUBSCRIPTIONS, STATE_SUBSCRIPTIONS } from '../../../platform/access/root-field-rates.ts';
import type { OperationRequest } from '../admission/read-operation.ts';
import { BY_MOMENT, BY_NUMBER, makeResumable, takeMarks, takeSeq } from './resume.ts';

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
  /** The number after which the client itself resumes. */
  readonly afterSeq?: number | undefined;
}

/** Makes the memory of one subscription. */
export function createStreamMemory(subscribed: Subscribed): StreamMemory {
  const { request, fields } = subscribed;
  if (numbered(subscribed, subscribed.afterSeq) !== null) return rememberNumber(subscribed);
  if (resumableSince(subscribed, undefined) !== null) return rememberMoments(subscribed);
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

function numbered(subscribed: Subscribed, after: number | undefined): OperationRequest | null {
  return makeResumable({ ...subscribed, point: BY_NUMBER, after });
}

function resumableSince(subscribed: Subscribed, after: string | undefined): OperationRequest | null {
  return makeResumable({ ...subscribed, point: BY_MOMENT, after });
}

/** One log: after the number of the last entry. Results still have the number that `takeSeq` removes. */
function rememberNumber(subscribed: Subscribed): StreamMemory {
  const isPaid = subscribed.fields.some((field) => PAID_SUBSCRIPTIONS.includes(field));
  let last = subscribed.afterSeq;
  let isFirst = true;
  return {
    next() {
      // Whether paid work has begun is only known from its first piece.
      if (!isFirst && isPaid && last === undefined) return null;
      isFirst = false;
      return numbered(subscribed, last);
    },
    pass(result) {
      last = takeSeq(result).seq ?? last;
      return result;
    },
  };
}

/** An entry is seen some time after the moment that it names, at most this much. */
const MARGIN_MS = 10_000;
/** Most tasks whose last entry is known: the latest ones. */
const MAX_TASKS = 1_000;

/** Many logs: since the moment of the last entry, without those of each that were passed on. */
function rememberMoments(subscribed: Subscribed): StreamMemory {
  const seen = new Map<string, number>();
  const openedAt = new Date();
  let latest: number | undefined;
  let isFirst = true;
  return {
    next() {
      const since = latest === undefined ? openedAt : new Date(latest - MARGIN_MS);
      const after = isFirst ? undefined : since.toISOString();
      isFirst = false;
      return resumableSince(subscribed, after);
    },
    pass(result) {
      const taken = takeMarks(result, BY_MOMENT);
      const { at, seq, task } = taken.marks ?? {};
      const id = (task as { readonly id?: unknown } | null | undefined)?.id;
      if (typeof id !== 'string' || typeof seq !== 'number') return taken.result;
      if (seq <= (seen.get(id) ?? 0)) return null;
      seen.delete(id);
      seen.set(id, seq);
      const [oldest] = seen.keys();
      if (seen.size > MAX_TASKS && oldest !== undefined) seen.delete(oldest);
      latest = Math.max(latest ?? 0, Date.parse(String(at)));
      return taken.result;
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
