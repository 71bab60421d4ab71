import { LRUCache } from 'lru-cache';
import type { Adapter, AdapterFactory, AdapterPayload } from 'oidc-provider';

/** Most entries that are stored. */
const MAX_KEPT = 10_000;

interface Entry {
  readonly payload: AdapterPayload;
  isConsumed: boolean;
}

/** The storage of the identity provider (codes, tokens, sessions): in memory and bounded. */
export function createStorage(): AdapterFactory {
  const stored = new LRUCache<string, Entry>({ max: MAX_KEPT });
  return (model) => createStore(stored, model);
}

function createStore(stored: LRUCache<string, Entry>, model: string): Adapter {
  const toKey = (id: string) => `${model}:${id}`;
  const found = (entry: Entry | undefined): AdapterPayload | undefined =>
    entry && { ...entry.payload, ...(entry.isConsumed ? { consumed: true } : {}) };
  const first = (matches: (payload: AdapterPayload) => boolean) =>
    found(
      [...stored.entries()].find(
        ([key, { payload }]) => key.startsWith(`${model}:`) && matches(payload),
      )?.[1],
    );
  return {
    async upsert(id, payload, expiresIn) {
      const ttl = expiresIn !== undefined && expiresIn > 0 ? { ttl: expiresIn * 1000 } : {};
      stored.set(toKey(id), { payload, isConsumed: false }, ttl);
    },
    find: async (id) => found(stored.get(toKey(id))),
    findByUid: async (uid) => first((payload) => payload.uid === uid),
    findByUserCode: async (userCode) => first((payload) => payload.userCode === userCode),
    async consume(id) {
      const entry = stored.get(toKey(id));
      if (entry !== undefined) entry.isConsumed = true;
    },
    destroy: async (id) => void stored.delete(toKey(id)),
    async revokeByGrantId(grantId) {
      for (const [key, { payload }] of stored.entries()) if (payload.grantId === grantId) stored.delete(key);
    },
  };
}
