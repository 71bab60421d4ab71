import { createHash } from 'node:crypto';

import { AppError, badInput } from '../errors.ts';
import type { Caller } from './caller.ts';

/** The stored record of a request with an Idempotency-Key: its owner, the hashed key, and what was requested. */
export interface IdempotencyRecord {
  readonly owner: string;
  readonly key: string;
  /** A different fingerprint under the same key is a different request. */
  readonly fingerprint: string;
}

/** Most characters of a key. */
export const MAX_KEY_LENGTH = 255;

/**
 * The record of a request; null without a key. BAD_USER_INPUT for a key that is empty or too long. Anonymous callers
 * share one owner, so their keys are scoped by their address, and by the user that they declare.
 */
export function toIdempotencyRecord(
  caller: Caller,
  key: string | null,
  request: unknown,
  declaredUser: string | null = null,
): IdempotencyRecord | null {
  if (key === null) return null;
  if (key === '' || key.length > MAX_KEY_LENGTH) {
    throw badInput('idempotencyKey', `idempotencyKey must have 1 to ${MAX_KEY_LENGTH} characters`);
  }
  const fingerprint = computeFingerprint(request);
  const of = { address: caller.address ?? '', user: declaredUser ?? undefined };
  const scope = caller.kind === 'anonymous' ? [key, of] : [key];
  return { owner: caller.id, key: sha256(JSON.stringify(scope)), fingerprint };
}

/** The error for a key that was used for another request. */
export function idempotencyConflict(): AppError {
  const message = 'idempotencyKey was used for another request; use a new one';
  return new AppError('IDEMPOTENCY_CONFLICT', message, { field: 'idempotencyKey' });
}

/** The sha256 of a value's JSON with the keys of every object in order; absent and undefined members are the same. */
export function computeFingerprint(value: unknown): string {
  const ordered = (_key: string, member: unknown): unknown => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)));
  };
  return sha256(JSON.stringify(value, ordered) ?? 'null');
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
