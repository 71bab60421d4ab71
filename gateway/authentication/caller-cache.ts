import { createHash } from 'node:crypto';

import { LRUCache } from 'lru-cache';
import { z } from 'zod';

import { internalCaller } from '../../platform/access/caller.ts';
import { AppError } from '../../platform/errors.ts';
import type { SubgraphLink } from '../../platform/graphql/operations/subgraph.ts';
import { newTraceId } from '../../platform/ids.ts';
import type { CallerLookup, Identity } from './credentials.ts';

/**
 * Caches which callers tokens and service keys stand for, as the workflow subgraph says. An entry is used for a second
 * and a half, or until something is revoked through this gateway; the subgraph's own cache is as short, and open
 * streams are checked every second (credential-guard.ts): a revoked credential has no effect anywhere after five
 * seconds.
 */

const FRESH_MS = 1_500;
const MAX_ENTRIES = 10_000;
const TIMEOUT_MS = 5_000;

const QUERY = `query CallerOf($credential: String!) {
  callerOf(credential: $credential) { kind id scopes generators sessionId expiresAt }
}`;

const answer = z.object({
  callerOf: z
    .object({
      kind: z.enum(['user', 'key', 'invalid']),
      id: z.string(),
      scopes: z.array(z.string()),
      generators: z.array(z.string()).nullable(),
      sessionId: z.string().nullable(),
      expiresAt: z.coerce.date().nullable(),
    })
    .nullable(),
});

type Found = Identity | 'invalid' | 'foreign';

/** The lookup, and the link to use for all requests to workflow: it clears the cache when a credential is revoked. */
export interface CallerCache {
  readonly lookup: CallerLookup;
  readonly link: SubgraphLink;
}

/** Operations that revoke credentials. */
const ENDS =
  /\b(?:revokeSession|endUserSessions|revokeServiceKey|rotateServiceKey|deleteAccount|deletePerson)\b/;

/** Makes the cache over the link to workflow. The lookup throws UNAVAILABLE when workflow does not answer. */
export function createCallerCache(workflow: SubgraphLink): CallerCache {
  const cache = new LRUCache<string, Found, string>({
    max: MAX_ENTRIES,
    ttl: FRESH_MS,
    fetchMethod: (_key, _stale, { context: credential }) => ask(workflow, credential),
    // A lookup that is running when the cache is cleared still answers its callers.
    ignoreFetchAbort: true,
  });
  return {
    async lookup(credential) {
      // Keyed by the hash, so that the cache holds no credentials.
      const key = createHash('sha256').update(credential).digest('base64');
      const found = await cache.forceFetch(key, { context: credential });
      return found === 'foreign' ? null : found;
    },
    link: {
      ...workflow,
      async execute(request) {
        try {
          return await workflow.execute(request);
        } finally {
          if (ENDS.test(request.query)) cache.clear();
        }
      },
    },
  };
}

async function ask(workflow: SubgraphLink, credential: string): Promise<Found> {
  const { data, errors } = await workflow.execute({
    query: QUERY,
    variables: { credential },
    context: { caller: internalCaller(newTraceId()), signal: AbortSignal.timeout(TIMEOUT_MS) },
  });
  const parsed = answer.safeParse(data);
  if (errors?.length || !parsed.success) {
    throw new AppError('UNAVAILABLE', 'the credential can not be checked now: try again', {
      retryAfter: 1,
      cause: errors?.[0] ?? parsed.error,
    });
  }
  const { callerOf: found } = parsed.data;
  if (found === null) return 'foreign';
  const { kind, ...facts } = found;
  return kind === 'invalid' ? 'invalid' : { kind, ...facts };
}
