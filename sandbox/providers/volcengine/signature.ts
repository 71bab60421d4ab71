import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

import type { WireRequest } from '../../http/wire.ts';

/** A signature error, with the vendor's code and message. */
export interface Unsigned {
  readonly number: number;
  readonly code: string;
  readonly message: string;
}

const REGION = 'cn-north-1';
/** Lifetime of a signature. */
const MAX_AGE_MS = 15 * 60_000;
const FORM =
  /^HMAC-SHA256 Credential=(?<key>[^/\s]+)\/(?<scope>\S+), SignedHeaders=(?<names>[a-z0-9;-]+), Signature=(?<signature>[0-9a-f]{64})$/;

/** Verifies the signature of a request. Null when it is valid. */
export function signatureProblem(
  request: WireRequest,
  { service, secret }: { readonly service: 'cv' | 'vod'; readonly secret: string },
): Unsigned | null {
  const { groups } = FORM.exec(request.headers['authorization'] ?? '') ?? {};
  if (groups === undefined) return { number: 100_003, code: 'MissingSignature', message: 'not signed' };
  const { scope = '', names = '', signature = '' } = groups;
  const time = request.headers['x-date'] ?? '';
  if (Math.abs(Date.now() - parseTime(time)) > MAX_AGE_MS || Number.isNaN(parseTime(time))) {
    return { number: 100_004, code: 'InvalidTimestamp', message: `not the time: ${time}` };
  }
  const wanted = [time.slice(0, 8), REGION, service, 'request'];
  const hash = createHash('sha256').update(request.body).digest('hex');
  const isWhole =
    scope === wanted.join('/') &&
    // The vendor's own SDKs leave the hash out of a GET, which has no body.
    (request.headers['x-content-sha256'] ?? (request.body.length === 0 ? hash : '')) === hash &&
    ['host', 'x-date'].every((name) => names.split(';').includes(name));
  const text = ['HMAC-SHA256', time, scope, sha256(toCanonicalRequest(request, names, hash))].join('\n');
  const key = wanted.reduce<string | Buffer>((before, part) => hmac(before, part), secret);
  const isRight = timingSafeEqual(hmac(key, text), Buffer.from(signature, 'hex'));
  if (isWhole && isRight) return null;
  const message = 'The request signature we calculated does not match the signature you provided.';
  return { number: 100_010, code: 'SignatureDoesNotMatch', message };
}

function toCanonicalRequest(request: WireRequest, names: string, hash: string): string {
  const path = `${new URL(request.baseUrl).pathname}${request.path}`;
  const lines = names.split(';').map((name) => `${name}:${request.headers[name]?.trim() ?? ''}\n`);
  const query = [...request.query].map(([name, value]) => `${escaped(name)}=${escaped(value)}`);
  return [request.method, path, query.toSorted().join('&'), lines.join(''), names, hash].join('\n');
}

/** `yyyymmddThhmmssZ`. */
function parseTime(text: string): number {
  return Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
}

function escaped(text: string): string {
  const signs = /[!'()*]/g;
  return encodeURIComponent(text).replaceAll(signs, (sign) =>
    `%${sign.charCodeAt(0).toString(16)}`.toUpperCase(),
  );
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
