import { internalCaller } from '../../platform/access/caller.ts';
import type { GraphqlExecutor } from '../../platform/graphql/operations/executor.ts';
import { newTraceId } from '../../platform/ids.ts';

/** What /readyz?verbose reports of each provider: no messages and no settings, which are for administrators. */
const QUERY = `query ProviderReadiness {
  providerHealth { binding provider sandbox attempts succeeded p50 p95 breaker { open until }
    models { model retiresAt daysLeft successor goneAt } }
}`;

const TIMEOUT_MS = 2_000;
/** Whoever asks within it shares one answer: anybody may ask, and none is counted. */
const SHARED_MS = 5_000;

/** Makes the reader of it over the federation. It rejects when media does not answer. */
export function createProviderReader(executor: GraphqlExecutor): () => Promise<unknown> {
  let last: { readonly at: number; readonly answer: Promise<unknown> } | null = null;
  return () => {
    const now = performance.now();
    if (last === null || now - last.at > SHARED_MS) last = { at: now, answer: readProviders(executor) };
    return last.answer;
  };
}

async function readProviders(executor: GraphqlExecutor): Promise<unknown> {
  const context = { caller: internalCaller(newTraceId()), signal: AbortSignal.timeout(TIMEOUT_MS) };
  const { data, errors } = await executor.execute({ query: QUERY, variables: {}, context });
  if (errors?.[0] !== undefined) throw errors[0];
  return data?.['providerHealth'];
}
