/** Result URLs that expire: each has a version, and only the newest is valid. */
export interface UrlExpiry {
  /** The valid version. */
  currentVersion(id: string): number;
  /** Invalidates the current URL of a job; the next answer has a new one. */
  expire(id: string): void;
}

/** Most jobs with expired URLs that are stored; older ones start again at the first version. */
const MAX_REMEMBERED = 1_000;

/** Creates the versions; every URL is valid at first. */
export function createUrlExpiry(): UrlExpiry {
  const editions = new Map<string, number>();
  const findEdition = (id: string) => editions.get(id) ?? 1;
  return {
    currentVersion: findEdition,
    expire(id) {
      editions.set(id, findEdition(id) + 1);
      const [oldest] = editions.keys();
      if (editions.size > MAX_REMEMBERED && oldest !== undefined) editions.delete(oldest);
    },
  };
}
