/** Which pages may send requests to the endpoint: a page that a browser shows must not reach a server on its own machine. */

/** As CORS_ORIGINS says it: any, or exactly these. */
export type Origins = 'any' | readonly string[];

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * The rule: the server's own pages, those of CORS_ORIGINS, and where that says any (in development) pages of this machine.
 * `any` is not enough for others: a page of the internet could rebind its name to this machine.
 */
export function createOriginRule(origins: Origins, publicUrl: string): (origin: string) => boolean {
  const named = new Set(origins === 'any' ? [] : origins.map((origin) => origin.replace(/\/$/, '')));
  named.add(new URL(publicUrl).origin);
  return (origin) => {
    if (named.has(origin)) return true;
    return origins === 'any' && URL.canParse(origin) && LOOPBACK.has(new URL(origin).hostname);
  };
}
