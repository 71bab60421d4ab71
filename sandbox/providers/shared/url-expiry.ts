/** Result addresses that expire: each job's address has an edition, and only the newest one is good. */
export interface UrlExpiry {
  /** The edition that is good now. */
  versionOf(id: string): number;
  /** Makes the job's present address bad; the next one to be answered is good. */
  expire(id: string): void;
}

/** Most jobs whose addresses have expired that are remembered; older ones start anew. */
const MAX_REMEMBERED = 1_000;

/** Every address is good at first. */
export function createUrlExpiry(): UrlExpiry {
  const editions = new Map<string, number>();
  const editionOf = (id: string) => editions.get(id) ?? 1;
  return {
    versionOf: editionOf,
    expire(id) {
      editions.set(id, editionOf(id) + 1);
      const [oldest] = editions.keys();
      if (editions.size > MAX_REMEMBERED && oldest !== undefined) editions.delete(oldest);
    },
  };
}
