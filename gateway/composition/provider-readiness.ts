import { internalCaller } from '../../platform/access/caller.ts';
import type { GraphqlExecutor } from '../../platform/graphql/operations/executor.ts';
import { newTraceId } from '../../platform/ids.ts';

/** What /readyz?verbose tells of each provider: no messages and no settings, which are for administrators. */
const QUERY = `query ProviderReadiness {
  providerHealth { binding provider sandbox attempts succeeded p50 p95 breaker { open until } }
}`;

const TIMEOUT_MS = 2_000;

/** Reads it over the federation. Rejects when media does not answer. */
export async function readProviders(executor: GraphqlExecutor): Promise<unknown> {
  const context = { caller: internalCaller(newTraceId()), signal: AbortSignal.timeout(TIMEOUT_MS) };
  const { data, errors } = await executor.execute({ query: QUERY, variables: {}, context });
  if (errors?.[0] !== undefined) throw errors[0];
  return data?.['providerHealth'];
}
