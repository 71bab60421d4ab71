import { createHash } from 'node:crypto';

import { LRUCache } from 'lru-cache';

import { testUsers } from '../identity/test-users.ts';
import type { TestUser } from '../identity/test-users.ts';

/**
 * The codes that a mini-program gets from its platform. Here callers make them up: the first name of a test user, a dash,
 * and anything new (`ada-1`, `ben-2026`); `blocked-1` is a blocked user. `visitor_`, 32 hexadecimal digits and the same end
 * is a user of their own, whom nobody else knows. A code is single-use.
 */
export interface Codes {
  /** Redeems a code: the user, or `unknown`, `used`, or `blocked`. */
  take(appId: string, code: string): Person | 'unknown' | 'used' | 'blocked';
}

/** Who a code is of. */
type Person = Pick<TestUser, 'subject'>;

/** Most used codes that are stored. */
const MAX_USED = 10_000;

const NAMES: ReadonlyMap<string, TestUser> = new Map(
  testUsers.map((person) => [person.name.toLowerCase(), person]),
);

/** Creates the store of used codes. */
export function createCodes(): Codes {
  const used = new LRUCache<string, true>({ max: MAX_USED });
  return {
    take(appId, code) {
      const [, name = '', visitor] = /^([a-z]+)(_[\da-f]{32})?-[\w-]{1,60}$/.exec(code) ?? [];
      if (name === 'blocked') return 'blocked';
      const person = visitor === undefined ? NAMES.get(name) : findVisitor(name, visitor);
      if (person === undefined) return 'unknown';
      const key = `${appId} ${code}`;
      if (used.has(key)) return 'used';
      used.set(key, true);
      return person;
    },
  };
}

function findVisitor(name: string, digits: string): Person | undefined {
  return name === 'visitor' ? { subject: `visitor${digits}` } : undefined;
}

/** A user's id at a platform: stable, and different for each purpose. */
export function idFor(purpose: string, { subject }: Person): string {
  return createHash('sha256').update(`${purpose} ${subject}`).digest('base64url');
}
