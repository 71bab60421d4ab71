import { loopbackUrl } from './loopback.ts';

const TIMEOUT_MS = 15_000;
const MAX_REDIRECTS = 3;

/**
 * Downloads an input, as upstreams do that take URLs. Null when there is none, when it is larger than `maxBytes`, or when
 * the URL (or a redirect) leads to another machine.
 */
export async function fetched(
  address: unknown,
  { maxBytes, signal }: { readonly maxBytes: number; readonly signal: AbortSignal },
): Promise<Buffer | null> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
  try {
    let url = loopbackUrl(address);
    for (let redirects = 0; url !== null && redirects <= MAX_REDIRECTS; redirects += 1) {
      const response = await fetch(url, { redirect: 'manual', signal: within });
      const next = response.headers.get('location');
      if (response.status >= 300 && response.status < 400 && next !== null) {
        await response.body?.cancel();
        url = loopbackUrl(URL.parse(next, url.href)?.href);
        continue;
      }
      return await readWhole(response, maxBytes);
    }
    return null;
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof TypeError || within.aborted) return null; // unreachable, broken off, or too slow
    throw error;
  }
}

async function readWhole(response: Response, maxBytes: number): Promise<Buffer | null> {
  if (!response.ok || response.body === null) {
    await response.body?.cancel();
    return null;
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.byteLength;
    if (size > maxBytes) return null; // returning cancels the download
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}
