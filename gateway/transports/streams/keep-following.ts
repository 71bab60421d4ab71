import { setTimeout as pause } from 'node:timers/promises';

import type { DocumentNode, ExecutionResult } from 'graphql';

import { PAID_SUBSCRIPTIONS } from '../../../platform/access/root-field-rates.ts';
import { codedError } from '../../../platform/graphql/operations/errors.ts';
import type { GraphqlRequest, ResultStream } from '../../../platform/graphql/operations/executor.ts';
import { isStream, mapStream } from '../../../platform/graphql/operations/streams.ts';
import type { ServedFederation } from '../admission/transport.ts';
import { makeResumable, takeSeq } from './resume.ts';

/**
 * Subscriptions over restarts of a subgraph or its database: a numbered stream that breaks off is taken up again after the last
 * event that was passed on, and its client notices nothing.
 */
export interface FollowOptions {
  readonly federation: ServedFederation;
  /** Milliseconds in which a broken stream is taken up again, before its client is told (default 30,000). */
  readonly resumeMs?: number | undefined;
}

/** A subscription to follow. */
export interface Followed {
  readonly request: GraphqlRequest;
  readonly document: DocumentNode;
  /** Root fields; paid ones would start their work again. */
  readonly fields: readonly string[];
  /** The number after which the client itself resumes. */
  readonly afterSeq?: number | undefined;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 4_000;

/** Subscribes. Results of numbered streams still have the number that `takeSeq` removes. */
export async function follow(
  options: FollowOptions,
  followed: Followed,
): Promise<ResultStream | ExecutionResult> {
  const { federation } = options;
  const { request, document, fields } = followed;
  const open = (afterSeq: number | undefined): Promise<ResultStream | ExecutionResult> => {
    const { query, operationName, variables } = request;
    const operation = { query, operationName, variables };
    const schema = federation.apiSchema();
    const resumable = makeResumable({ request: operation, document, schema, afterSeq });
    return federation.subscribe({ ...request, ...resumable });
  };
  const first = await open(followed.afterSeq);
  const isPaid = fields.some((field) => PAID_SUBSCRIPTIONS.includes(field));
  return isStream(first) && !isPaid ? overBreaks(options, followed, { first, open }) : first;
}

/** The same for transports that have no place for the numbers. */
export async function followUnnumbered(
  options: FollowOptions,
  followed: Followed,
): Promise<ResultStream | ExecutionResult> {
  const outcome = await follow(options, followed);
  if (!isStream(outcome)) return takeSeq(outcome).result;
  return mapStream({
    source: outcome,
    map: (result) => takeSeq(result).result,
    failed: BROKEN,
    signals: [followed.request.context.signal],
  });
}

const BROKEN = (): ExecutionResult => ({ errors: [codedError('UNAVAILABLE', 'the stream broke off')] });

/** Whether a result says "unavailable for now", so that the stream is interrupted rather than complete. */
export function isBreak({ data, errors = [] }: ExecutionResult): boolean {
  const isUnavailable = errors.some(({ extensions }) => extensions['code'] === 'UNAVAILABLE');
  return isUnavailable && (data === undefined || data === null);
}

interface Opening {
  readonly first: ResultStream;
  readonly open: (afterSeq: number | undefined) => Promise<ResultStream | ExecutionResult>;
}

function overBreaks(
  { resumeMs = 30_000 }: FollowOptions,
  { request, afterSeq }: Followed,
  { first, open }: Opening,
): ResultStream {
  const left = new AbortController();
  let current = first;
  let last: number | undefined;

  /** The stream again; null when it was not to be had in time, or is none of those that can be. */
  async function reopen(): Promise<ResultStream | null> {
    // Without a number nothing says where to go on.
    if (last === undefined) return null;
    const end = performance.now() + resumeMs;
    for (let wait = FIRST_PAUSE_MS; performance.now() < end; wait = Math.min(LONGEST_PAUSE_MS, wait * 2)) {
      await pause(wait * (0.5 + Math.random()), undefined, { signal: left.signal });
      const outcome = await open(last);
      if (isStream(outcome)) return outcome;
      if (!isBreak(outcome)) return null;
    }
    return null;
  }

  const source: AsyncIterator<ExecutionResult> = {
    async next() {
      for (;;) {
        const item = await current.next();
        if (item.done === true) return item;
        if (!isBreak(item.value)) {
          last = takeSeq(item.value).seq ?? last;
          return item;
        }
        void current.return?.();
        const again = await reopen();
        if (again === null) return item;
        current = again;
      }
    },
    async return() {
      left.abort();
      await current.return?.();
      return { value: undefined, done: true };
    },
  };
  last = afterSeq;
  return mapStream({
    source,
    map: (result) => result,
    failed: BROKEN,
    signals: [request.context.signal],
  });
}
