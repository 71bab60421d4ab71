import type { HttpClient } from '../../../../platform/http/http-client.ts';
import { UpstreamError } from '../../domain/failure.ts';
import type { InputFile } from '../../domain/inputs/input-files.ts';
import type { CallContext } from '../contract/provider.ts';
import { toHttpRequest, transportError, type ExchangeAnswer } from './exchange.ts';

const UPLOAD_TIMEOUT_MS = 5 * 60_000;

/** A file, its upload URL, and the call's context. */
export interface Upload {
  readonly file: InputFile;
  readonly url: string;
  readonly context: CallContext;
  /** Headers that the service asks for, which its signature covers. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Headers that describe the connection, or would carry credentials: ours alone. */
const OWN = new Set(['host', 'content-length', 'transfer-encoding', 'connection', 'authorization', 'cookie']);

function requiredHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const required = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  return Object.fromEntries(required.filter(([name]) => !OWN.has(name)));
}

/**
 * PUTs a file to an upload URL that carries its own permission, as a stream: it gets no credentials, and must be
 * allowed by the outbound rule. Throws UpstreamError when no answer came, or one that sends it elsewhere.
 */
export async function putFile(
  http: HttpClient,
  { file, url, context, headers: required = {} }: Upload,
): Promise<ExchangeAnswer> {
  const { trustedOrigins = [] } = toHttpRequest(context, { method: 'PUT', path: '' });
  const stream = await file.open();
  try {
    const { status, headers } = await http.request({
      method: 'PUT',
      url,
      headers: {
        'content-type': file.contentType,
        ...requiredHeaders(required),
        'content-length': String(file.bytes),
      },
      body: () => stream as AsyncIterable<Uint8Array>,
      timeoutMs: UPLOAD_TIMEOUT_MS,
      maxBytes: 1 << 20,
      signal: context.signal,
      retry: 'never',
      trustedOrigins,
    });
    // A redirect is not followed: nothing is there then, and work that starts would miss it.
    if (status >= 300 && status < 400) {
      throw new UpstreamError('UNAVAILABLE', `the file was not taken (HTTP ${status})`);
    }
    return { status, headers, json: undefined };
  } catch (error) {
    throw transportError(error);
  } finally {
    stream.destroy();
  }
}
