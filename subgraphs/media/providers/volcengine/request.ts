import { createHash, createHmac } from 'node:crypto';

import type { HttpClient } from '../../../../platform/http/http-client.ts';
import { UpstreamError } from '../../domain/failure.ts';
import type { InputFile } from '../../domain/inputs/input-files.ts';
import type { CallContext, Connection } from '../contract/provider.ts';
import { buildUrl, createExchange, type ExchangeAnswer } from '../shared/exchange.ts';

interface Action {
  readonly service: 'cv' | 'vod';
  readonly method: 'GET' | 'POST';
  readonly name: string;
  readonly version: string;
  /** Further parameters of the query. */
  readonly query?: Readonly<Record<string, string>>;
  /** A JSON body, or a form. */
  readonly json?: object;
  readonly form?: Readonly<Record<string, string>>;
  /** `safe` only for reads. */
  readonly retry?: 'safe';
}

/** Sends one action, signed with the connection's pair of keys. */
export type SendAction = (context: CallContext, action: Action) => Promise<ExchangeAnswer>;

/** The one region that both services are signed for. */
const REGION = 'cn-north-1';

/** Creates the function that sends actions. */
export function createSendAction(http: HttpClient): SendAction {
  const exchange = createExchange(http);
  return async (context, action) => {
    const { accessKey, secretKey } = readKeys(context.connection);
    const there = at(context, action.service);
    const query = new URLSearchParams({ Action: action.name, Version: action.version, ...action.query });
    const path = `/?${query.toString()}`;
    const { contentType, body } = encodeBody(action);
    const signed = signedHeaders(
      {
        method: action.method,
        url: buildUrl(there.connection, path),
        contentType,
        body,
        date: new Date(),
      },
      { accessKey, secretKey, service: action.service, region: REGION },
    );
    return exchange(there, {
      method: action.method,
      path,
      headers: { ...(contentType !== null && { 'content-type': contentType }), ...signed },
      ...(contentType !== null && { bytes: Buffer.from(body) }),
      ...(action.retry !== undefined && { retry: action.retry }),
    });
  };
}

function readKeys({ credentials }: Connection): { readonly accessKey: string; readonly secretKey: string } {
  const { accessKey, secretKey } = credentials;
  if (accessKey !== undefined && secretKey !== undefined) return { accessKey, secretKey };
  throw new UpstreamError('UNAVAILABLE', 'volcengine: there are no keys to sign with', {
    retryable: false,
  });
}

/** The same connection at the service's own address. */
function at(context: CallContext, service: Action['service']): CallContext {
  const { connection } = context;
  const baseUrl = service === 'cv' ? connection.baseUrl : connection.endpoints?.['vod'];
  if (baseUrl !== undefined) return { ...context, connection: { ...connection, baseUrl } };
  const message = 'volcengine: the binding has no address of VOD (endpoints.vod)';
  throw new UpstreamError('UNAVAILABLE', message);
}

function encodeBody({ json, form }: Action): { readonly contentType: string | null; readonly body: string } {
  if (json !== undefined) return { contentType: 'application/json', body: JSON.stringify(json) };
  if (form === undefined) return { contentType: null, body: '' };
  return {
    contentType: 'application/x-www-form-urlencoded',
    body: new URLSearchParams(form).toString(),
  };
}

/** The URL from which Volcengine fetches a file: it accepts URLs only. Refused before anything is sent without one. */
export function addressFor(file: InputFile, field: string): string {
  if (file.publicUrl !== null) return file.publicUrl;
  const message = `${field}: volcengine fetches its inputs by itself and can't reach this server`;
  const cause = new Error('PUBLIC_URL must be a public https address, or files must lie in S3 at one');
  throw new UpstreamError('UNAVAILABLE', message, { retryable: false, field, cause });
}

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

interface Signer {
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
