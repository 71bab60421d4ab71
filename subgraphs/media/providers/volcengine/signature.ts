import { createHash, createHmac } from 'node:crypto';

/** How Volcengine's requests are signed (HMAC-SHA256, as the vendor's SDKs do it: base/sign.go of volc-sdk-golang). */

/** What the signature covers. */
export interface RequestToSign {
  readonly method: string;
  /** The full URL; its host is signed, with a non-default port. */
  readonly url: string;
  /** The content type as sent; null without a body. */
  readonly contentType: string | null;
  readonly body: string;
  readonly date: Date;
}

/** The signing keys and the service. */
export interface Signer {
  readonly accessKey: string;
  readonly secretKey: string;
  /** `cv` or `vod`. */
  readonly service: string;
  readonly region: string;
}

/** The headers that authenticate a request. They contain the key's name, never the secret. */
export function signedHeaders(request: RequestToSign, signer: Signer): Readonly<Record<string, string>> {
  const { accessKey, secretKey, service, region } = signer;
  const url = new URL(request.url);
  const time = request.date.toISOString().replaceAll(/[-:]|\.\d{3}/g, '');
  const hash = sha256(request.body);
  const headers = [
    ...(request.contentType === null ? [] : [['content-type', request.contentType]]),
    ['host', url.host],
    ['x-content-sha256', hash],
    ['x-date', time],
  ];
  const names = headers.map(([name]) => name).join(';');
  const lines = headers.map(([name, value]) => `${name}:${value}\n`).join('');
  const canonical = [request.method, url.pathname, canonicalQuery(url.searchParams), lines, names, hash];
  const scope = [time.slice(0, 8), region, service, 'request'];
  const text = ['HMAC-SHA256', time, scope.join('/'), sha256(canonical.join('\n'))].join('\n');
  const key = scope.reduce<string | Buffer>((before, part) => hmac(before, part), secretKey);
  const signature = hmac(key, text).toString('hex');
  return {
    'x-date': time,
    'x-content-sha256': hash,
    authorization: `HMAC-SHA256 Credential=${accessKey}/${scope.join('/')}, SignedHeaders=${names}, Signature=${signature}`,
  };
}

function canonicalQuery(query: URLSearchParams): string {
  const pairs = [...query].map(([name, value]) => `${escaped(name)}=${escaped(value)}`);
  return pairs.toSorted().join('&');
}

/** Percent-encodes everything but letters, digits and `-_.~`, as in RFC 3986. */
function escaped(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
