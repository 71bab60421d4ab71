import { CombinedGraphQLErrors } from '@apollo/client';
import { useEffect } from 'react';

/** Milliseconds until a subscription that the server has ended with a failure is begun again. */
const AGAIN_MS = 3_000;
/** Failures that pass; others stay as they are. */
const PASSING: ReadonlySet<unknown> = new Set(['UNAVAILABLE', 'INTERNAL', undefined]);

/** Begins a subscription again while the server has no more than a bad moment. */
export function useHealing({
  error,
  restart,
}: {
  readonly error?: Error | undefined;
  readonly restart: () => void;
}): void {
  useEffect(() => {
    if (error === undefined || !isPassing(error)) return undefined;
    const timer = setTimeout(restart, AGAIN_MS);
    return () => clearTimeout(timer);
  }, [error, restart]);
}

function isPassing(error: Error): boolean {
  if (!CombinedGraphQLErrors.is(error)) return true;
  return error.errors.every(({ extensions }) => PASSING.has(extensions?.['code']));
}
