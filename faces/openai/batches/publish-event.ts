import { internalCaller } from '../../../platform/access/caller.ts';
import { AppError } from '../../../platform/errors.ts';
import type { SubgraphLink } from '../../../platform/graphql/operations/subgraph.ts';
import { newTraceId } from '../../../platform/ids.ts';
import type { FaceNotice } from '../table/route.ts';

const PUBLISH = `mutation PublishEvent($id: ID!, $type: String!, $at: DateTime!, $data: JSON!) {
  publishEvent(id: $id, type: $type, at: $at, data: $data)
}`;

/** Milliseconds. */
const TIMEOUT_MS = 10_000;

/** Makes what tells the media subgraph, in this process or another, of an event for webhook endpoints. Throws UNAVAILABLE. */
export function eventPublisher(link: SubgraphLink): (event: FaceNotice) => Promise<void> {
  return async ({ at, ...event }) => {
    const { errors } = await link.execute({
      query: PUBLISH,
      operationName: 'PublishEvent',
      variables: { ...event, at: at.toISOString() },
      context: { caller: internalCaller(newTraceId()), signal: AbortSignal.timeout(TIMEOUT_MS) },
    });
    const [error] = errors ?? [];
    if (error !== undefined) throw new AppError('UNAVAILABLE', error.message, { cause: error });
  };
}
