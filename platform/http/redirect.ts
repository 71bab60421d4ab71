import type { Dispatcher } from 'undici';

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Headers that are sent on to another origin. Any other one could be a credential. */
const HARMLESS = new Set(['accept', 'accept-language', 'range', 'user-agent']);

/** The next URL and headers of a GET, or null when the response is no redirect. */
export function redirectOf({
  response,
  url,
  headers,
}: {
  response: Dispatcher.ResponseData<unknown>;
  url: string;
  headers: Readonly<Record<string, string>>;
}): { url: string; headers: Readonly<Record<string, string>> } | null {
  const location = response.headers['location'];
  if (!REDIRECTS.has(response.statusCode) || typeof location !== 'string') return null;
  const next = URL.parse(location, url);
  if (next === null) return null;
  if (next.origin === new URL(url).origin) return { url: next.href, headers };
  const harmless = Object.entries(headers).filter(([name]) => HARMLESS.has(name.toLowerCase()));
  return { url: next.href, headers: Object.fromEntries(harmless) };
}
