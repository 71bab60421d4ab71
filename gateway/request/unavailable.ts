import type { GraphQLFormattedError } from 'graphql';

import { isAnswered } from '../../platform/graphql/operations/partial-data.ts';

/** An answer that has no data because something is away: 503, which proxies and clients know to send again. */
export interface Unavailable {
  readonly status: 503;
  readonly retryAfterSeconds: number;
}

/** Seconds when no error names any. */
const USUAL_SECONDS = 2;

/**
 * Whether all of an answer is missing because something is away; partial answers (also one that is null because a subgraph
 * said so), and other errors, keep their status.
 */
export function findUnavailable({
  data,
  errors = [],
}: {
  readonly data?: unknown;
  readonly errors?: readonly GraphQLFormattedError[] | undefined;
}): Unavailable | null {
  if (errors.length === 0) return null;
  const isUnavailable = ({ extensions }: GraphQLFormattedError): boolean =>
    extensions?.['code'] === 'UNAVAILABLE';
  const hasData = isAnswered(data) || Object.values(data ?? {}).some((value) => value !== null);
  if (hasData || !errors.every(isUnavailable)) return null;
  return { status: 503, retryAfterSeconds: longestWait(errors) || USUAL_SECONDS };
}

/** Retry-After of an answer, in seconds: the longest wait that its errors ask for, also where others have data; 0: none. */
export function findRetryAfter(answer: Parameters<typeof findUnavailable>[0]): number {
  return findUnavailable(answer)?.retryAfterSeconds ?? longestWait(answer.errors ?? []);
}

function longestWait(errors: readonly GraphQLFormattedError[]): number {
  const waits = errors.map(({ extensions }) => extensions?.['retryAfter']);
  return Math.max(0, ...waits.filter((wait) => typeof wait === 'number'));
}
