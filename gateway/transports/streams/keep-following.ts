import { setTimeout as pause } from 'node:timers/promises';

import type { DocumentNode, ExecutionResult } from 'graphql';

import { codedError } from '../../../platform/graphql/operations/errors.ts';
import type { GraphqlRequest, ResultStream } from '../../../platform/graphql/operations/executor.ts';
import { isEndOfStream, isStream, mapStream } from '../../../platform/graphql/operations/streams.ts';
import { withJitter } from '../../../platform/process/jitter.ts';
import type { ServedFederation } from '../admission/transport.ts';
import { type EventId, takeEventId, createStreamMemory, type StreamMemory } from './resume.ts';

/**
 * Subscriptions over restarts of a subgraph or its database: a stream that breaks off is taken up again after the last
 * event that was passed on, and its client notices nothing.
 */
export interface FollowOptions {
  readonly federation: Pick<ServedFederation, 'apiSchema' | 'subscribe'>;
  /** Milliseconds in which a broken stream is taken up again, before its client is told (default 30,000). */
  readonly resumeMs?: number | undefined;
}

/** A subscription to follow. */
export interface Followed {
  readonly request: GraphqlRequest;
  readonly document: DocumentNode;
  /** Root fields of the operation. */
  readonly fields: readonly string[];
  /** After what the client itself resumes. */
  readonly after?: EventId | undefined;
}

const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 4_000;
/** A stream that has given nothing counts as accepted after this time: longer than anybody waits for a busy database. */
const ACCEPTED_MS = 6_000;

/** Subscribes. Results still have the id that `takeEventId` removes. */
export async function follow(
  options: FollowOptions,
  { request, ...followed }: Followed,
): Promise<ResultStream | ExecutionResult> {
  const { federation } = options;
  const { query, operationName, variables } = request;
  const schema = federation.apiSchema();
  const operation = { query, operationName, variables };
  const memory = createStreamMemory({ ...followed, request: operation, schema });
  const open: Open = async () => {
    const next = memory.next();
    return next === null ? null : await federation.subscribe({ ...request, ...next });
  };
  const first = (await open()) ?? BROKEN();
  if (!isStream(first)) return first;
  return mapStream({
    source: overBreaks({
      first,
      open,
      memory,
      resumeMs: options.resumeMs ?? 30_000,
      isResumed: followed.after !== undefined,
    }),
    map: (result) => result,
    failed: BROKEN,
    signals: [request.context.signal],
  });
}

/** The same for transports that have no place for the ids. */
export async function followUnnumbered(
  options: FollowOptions,
  followed: Followed,
): Promise<ResultStream | ExecutionResult> {
  const outcome = await follow(options, followed);
  if (!isStream(outcome)) return takeEventId(outcome).result;
  return mapStream({
    source: outcome,
    map: (result) => takeEventId(result).result,
    failed: BROKEN,
    signals: [followed.request.context.signal],
  });
}

const BROKEN = (): ExecutionResult => ({ errors: [codedError('UNAVAILABLE', 'the stream broke off')] });

/** Whether a stream says that its source is "unavailable for now", so that it is interrupted rather than complete. */
export function isBreak(result: ExecutionResult): boolean {
  const { errors = [] } = result;
  return isEndOfStream(result) && errors.some(({ extensions }) => extensions['code'] === 'UNAVAILABLE');
}

/** Subscribes at first, and after a break; null when nothing says where to go on. */
type Open = () => Promise<ResultStream | ExecutionResult | null>;

interface Following {
  readonly first: ResultStream;
  readonly open: Open;
  readonly memory: StreamMemory;
  readonly resumeMs: number;
  /** Whether the client itself resumes, and so has had events. */
  readonly isResumed: boolean;
}

/** A break and all that follow it before the next event: a subgraph that is away takes every try and breaks it off. */
interface Outage {
  readonly until: number;
  pauseMs: number;
}

function overBreaks({ first, open, memory, resumeMs, isResumed }: Following): AsyncIterator<ExecutionResult> {
  const left = new AbortController();
  let current = first;
  let openedAt = performance.now();
  let isAccepted = isResumed;
  let outage: Outage | null = null;

  /** The stream again; null when it was not to be had in time, or is none of those that can be. */
  async function reopen(): Promise<ResultStream | null> {
    const now = performance.now();
    const stood = now - openedAt;
    isAccepted ||= stood >= ACCEPTED_MS;
    if (!isAccepted) return null;
    if (outage === null || stood >= resumeMs) outage = { until: now + resumeMs, pauseMs: FIRST_PAUSE_MS };
    while (performance.now() < outage.until) {
      await pause(withJitter(outage.pauseMs), undefined, { signal: left.signal });
      outage.pauseMs = Math.min(LONGEST_PAUSE_MS, outage.pauseMs * 2);
      openedAt = performance.now();
      const outcome = await open();
      if (outcome !== null && isStream(outcome)) return outcome;
      if (outcome === null || !isBreak(outcome)) return null;
    }
    return null;
  }

  return {
    async next() {
      for (;;) {
        const item = await current.next();
        if (item.done === true) return item;
        if (isBreak(item.value)) {
          void current.return?.();
          const again = await reopen();
          if (again === null) return item;
          current = again;
          continue;
        }
        isAccepted = true;
        outage = null;
        const value = memory.pass(item.value);
        if (value !== null) return { value, done: false };
      }
    },
    async return() {
      left.abort();
      await current.return?.();
      return { value: undefined, done: true };
    },
  };
}
