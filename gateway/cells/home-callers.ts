import { createHash } from 'node:crypto';

import { LRUCache } from 'lru-cache';
import { Pool } from 'undici';
import { z } from 'zod';

import { AppError } from '../../platform/errors.ts';
import type { CallerLookup, Identity } from '../authentication/credentials.ts';

/**
 * Asks the home cell whom a credential stands for, with that credential: no secret is shared. An answer is used for a second and
 * a half; while the home cell is away the last one holds for an hour at most, and not beyond the credential's own end.
 */

const FRESH_MS = 1_500;
const STALE_MS = 3_600_000;
const MAX_ENTRIES = 10_000;
const TIMEOUT_MS = 5_000;
const MAX_ANSWER_BYTES = 64 * 1024;

const identity = z.object({
  kind: z.enum(['user', 'key']),
  id: z.string(),
  scopes: z.array(z.string()),
  generators: z.array(z.string()).nullable(),
  sessionId: z.string().nullable(),
  expiresAt: z.coerce.date().nullable(),
});

type Found = Identity | 'invalid' | 'unknown';

interface Known {
  readonly found: Found;
  /** In milliseconds since the epoch. */
  readonly at: number;
}

/** Makes the lookup over the address of the home cell, and the end of its connections. */
export function askHomeCell(homeUrl: string) {
  const pool = new Pool(new URL(homeUrl).origin, { connections: 8, maxResponseSize: MAX_ANSWER_BYTES });
  return {
    /** Throws UNAVAILABLE for a credential that the home cell was not asked about before it went away. */
    lookup: createLookup((credential) => askOnce(pool, homeUrl, credential)),
    close: () => pool.destroy(),
  };
}

function createLookup(askHome: (credential: string) => Promise<Found>): CallerLookup {
  const known = new LRUCache<string, Known, string>({
    max: MAX_ENTRIES,
    ttl: FRESH_MS,
    async fetchMethod(_key, last, { context: credential }) {
      try {
        return { found: await askHome(credential), at: Date.now() };
      } catch (cause) {
        // Kept as it is for as long as an answer is: who waits for the home cell is not each request.
        if (last === undefined || hasEnded(last)) throw unavailable(cause);
        return last;
      }
    },
  });
  return async (credential) => {
    // Keyed by the hash, so that the cache holds no credentials.
    const key = createHash('sha256').update(credential).digest('base64');
    const { found } = await known.forceFetch(key, { context: credential });
    return found === 'unknown' ? null : found;
  };
}

function hasEnded({ found, at }: Known): boolean {
  const now = Date.now();
  if (now - at > STALE_MS) return true;
  return typeof found === 'object' && found.expiresAt != null && found.expiresAt.getTime() <= now;
}

async function askOnce(pool: Pool, homeUrl: string, credential: string): Promise<Found> {
  const { statusCode, body } = await pool.request({
    method: 'GET',
    path: `${new URL(homeUrl).pathname.replace(/\/$/, '')}/caller`,
    headers: { authorization: `Bearer ${credential}` },
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await body.text();
  if (statusCode === 200) return identity.parse(JSON.parse(text));
  if (statusCode === 401) return 'invalid';
  if (statusCode === 204) return 'unknown';
  throw new Error(`the home cell answered ${statusCode}`);
}

function unavailable(cause: unknown): AppError {
  return new AppError('UNAVAILABLE', 'the credential can not be checked now: try again', {
    retryAfter: 1,
    cause,
  });
}
