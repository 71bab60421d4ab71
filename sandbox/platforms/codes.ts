import { createHash } from 'node:crypto';

import { LRUCache } from 'lru-cache';

import { testUsers } from '../identity/test-users.ts';
import type { TestUser } from '../identity/test-users.ts';

/**
 * The codes that a mini-program would get from its platform. Here everybody makes their own: the first name of one of
 * the sandbox's people, a dash, and anything that is new (`ada-1`, `ben-2026`); `blocked-1` is somebody who may not
 * sign in. A code is good once.
 */
export interface Codes {
  /** Whose code it is; it is used up. `unknown` is no code, `used` was one, `blocked` is of who may not. */
  take(appId: string, code: string): TestUser | 'unknown' | 'used' | 'blocked';
}

/** Codes remembered as used; the platforms forget theirs after minutes. */
const MAX_USED = 10_000;

const NAMES: ReadonlyMap<string, TestUser> = new Map(
  testUsers.map((person) => [person.name.toLowerCase(), person]),
);

/** Makes it; the newest used codes are remembered. */
export function createCodes(): Codes {
  const used = new LRUCache<string, true>({ max: MAX_USED });
  return {
    take(appId, code) {
      const [, name = ''] = /^([a-z]+)-[\w-]{1,60}$/.exec(code) ?? [];
      if (name === 'blocked') return 'blocked';
      const person = NAMES.get(name);
      if (person === undefined) return 'unknown';
      const key = `${appId} ${code}`;
      if (used.has(key)) return 'used';
      used.set(key, true);
      return person;
    },
  };
}

/** An id that a platform gives somebody: the same every time, another one for every purpose. */
export function idFor(purpose: string, { subject }: TestUser): string {
  return createHash('sha256').update(`${purpose} ${subject}`).digest('base64url');
}
