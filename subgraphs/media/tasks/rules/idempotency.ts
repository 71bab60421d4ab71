import { createHash } from 'node:crypto';

import type { Caller } from '../../../../platform/access/caller.ts';
import { badInput } from '../../../../platform/errors.ts';
import type { IdempotencyEntry } from '../storage/submission-store.ts';

/** Idempotency keys and fingerprints. Pure. */

const MAX_KEY = 255;

/**
 * The record of a submission. Keys are kept as hashes. An anonymous caller's key also carries the address and the
 * fingerprint, so that a stranger who uses the same key never meets somebody else's task.
 */
export function idempotencyOf(
  caller: Caller,
  key: string | null,
  fingerprint: unknown,
): IdempotencyEntry | null {
  if (key === null) return null;
  if (key === '' || key.length > MAX_KEY) {
    throw badInput('idempotencyKey', `idempotencyKey must have 1 to ${MAX_KEY} characters`);
  }
  const hashed = sha256(canonicalJson(fingerprint));
  const scope = caller.kind === 'anonymous' ? [key, caller.address ?? '', hashed] : [key];
  return { owner: caller.id, key: sha256(JSON.stringify(scope)), fingerprint: hashed };
}

/** JSON with the keys of every object in order, so that equal values have equal texts. Absent and undefined are one. */
export function canonicalJson(value: unknown): string {
  return (
    JSON.stringify(value, (_key, entry: unknown) => {
      if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return entry;
      return Object.fromEntries(Object.entries(entry).sort(([one], [other]) => (one < other ? -1 : 1)));
    }) ?? 'null'
  );
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
