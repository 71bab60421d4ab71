import type { Deadline } from './deadline.ts';
import { type Answer, discard, type Exchanger } from './exchange.ts';
import type { HttpRequest } from './http-client.ts';

const MAX_REDIRECTS = 5;
const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** Headers that are sent on to another origin. Any other one could be a credential. */
const HARMLESS = new Set(['accept', 'accept-language', 'range', 'user-agent']);

/** Sends a request, and follows the redirects of a GET; beyond the limit the redirect itself is the answer. */
export async function followRedirects(
  exchanger: Exchanger,
  request: HttpRequest,
  deadline: Deadline,
): Promise<Answer> {
  let { url, headers = {} } = request;
  for (let redirects = 0; ; redirects++) {
    const answer = await exchanger.send({ ...request, url, headers }, deadline, redirects > 0);
    const next = request.method === 'GET' ? nextAddress(answer, url, headers) : null;
    if (next === null || redirects === MAX_REDIRECTS) return answer;
    await discard(answer, deadline);
    ({ url, headers } = next);
  }
}

/** The next URL and headers of a GET, or null when the response is no redirect. */
function nextAddress(
  { response }: Answer,
  url: string,
  headers: Readonly<Record<string, string>>,
): { readonly url: string; readonly headers: Readonly<Record<string, string>> } | null {
  const location = response.headers['location'];
  if (!REDIRECTS.has(response.statusCode) || typeof location !== 'string') return null;
  const next = URL.parse(location, url);
  if (next === null) return null;
  if (next.origin === new URL(url).origin) return { url: next.href, headers };
  const harmless = Object.entries(headers).filter(([name]) => HARMLESS.has(name.toLowerCase()));
  return { url: next.href, headers: Object.fromEntries(harmless) };
}
