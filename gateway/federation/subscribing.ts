import type { ExecutionResult } from 'graphql';

import type { GraphqlRequest, ResultStream } from '../../platform/graphql/operations/executor.ts';
import {
  isEndOfStream,
  isStream,
  mapStream,
  type MapStreamOptions,
  type Stream,
} from '../../platform/graphql/operations/streams.ts';
import { subscribeTo, toCallerError } from './compiled/fetch.ts';
import type { RunInput } from './compiled/run.ts';
import { joinAhead } from './concurrent-events.ts';
import type { SubscriptionPlan } from './plans.ts';

interface Subscribing {
  readonly open: ReturnType<typeof createOpenStreams>;
  readonly toRunInput: (request: GraphqlRequest) => RunInput;
  readonly failed: (thrown: unknown, request: GraphqlRequest) => ExecutionResult;
  readonly concurrentEvents: number;
}

type SubscribePlanned = (
  plan: SubscriptionPlan,
  request: GraphqlRequest,
  complete?: (result: ExecutionResult) => ExecutionResult,
) => Promise<ResultStream | ExecutionResult>;

/** Makes what subscribes by a plan, and joins the events. */
export function createSubscribing({
  open,
  toRunInput,
  failed,
  concurrentEvents,
}: Subscribing): SubscribePlanned {
  return async (plan, request, complete = (result) => result) => {
    const started = await subscribeTo(plan.primary, toRunInput(request));
    if (!isStream<ExecutionResult>(started)) return started;
    const end = (): void => void stream.return();
    const join = async (result: ExecutionResult): Promise<ExecutionResult> =>
      isEndOfStream(result)
        ? endingResult(result, plan)
        : complete(await runEvent(result, plan, toRunInput(request)));
    const isJoined = plan.plan.node?.kind === 'Sequence' && plan.plan.node.nodes.length > 1;
    const stream = joinedStream(started, join, isJoined ? concurrentEvents : 1, {
      failed: (thrown: unknown) => failed(thrown, request),
      signals: [request.context.signal],
      onEnd: () => open.forget(end),
    });
    open.keep(end, request.context.signal);
    return stream;
  };
}

type Ends = Pick<MapStreamOptions<ExecutionResult, ExecutionResult>, 'failed' | 'signals' | 'onEnd'>;

/** Joins the events of a source: one after the other, or several at once in their order. */
function joinedStream(
  source: ResultStream,
  join: (result: ExecutionResult) => Promise<ExecutionResult>,
  most: number,
  ends: Ends,
): Stream<ExecutionResult> {
  if (most === 1) return mapStream({ source, map: join, ...ends });
  return mapStream({ source: joinAhead(source, join, most), map: ({ joined }) => joined, ...ends });
}

/** What the source says at its end is no event, and nothing is joined to it. */
function endingResult({ errors = [] }: ExecutionResult, { primary }: SubscriptionPlan): ExecutionResult {
  return { errors: errors.map((error) => toCallerError(error, primary.serviceName, error.path)) };
}

/** Runs the rest of a plan for an event. */
async function runEvent(
  result: ExecutionResult,
  { primary, compiled }: SubscriptionPlan,
  input: RunInput,
): Promise<ExecutionResult> {
  const { data = null, ...rest } = await compiled.run({ ...input, answered: { fetch: primary, result } });
  return { ...rest, data };
}

/** What ends each open stream. Not one signal for all: adding a listener to it compares it with every other one. */
export function createOpenStreams() {
  const ends = new Set<() => void>();
  let isClosed = false;
  return {
    keep(end: () => void, left: AbortSignal): void {
      if (isClosed) end();
      else if (!left.aborted) ends.add(end);
    },
    forget: (end: () => void) => void ends.delete(end),
    close(): void {
      isClosed = true;
      for (const end of ends) end();
    },
  };
}
