/** The URL, if it is a loopback address: a stand-in must not call other machines. */
export function loopbackUrl(value: unknown): URL | null {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : null;
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return null;
  return ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname) ? url : null;
}
