import { setTimeout as pause } from 'node:timers/promises';

import { z } from 'zod';

import type { HttpClient, HttpResponse } from '../../../../platform/http/http-client.ts';
import type { Json } from '../../../../platform/json.ts';
import { invalidInput, UpstreamError } from '../../domain/failure.ts';
import type { InputFile } from '../../domain/inputs/input-files.ts';
import type { CallContext, Connection, UploadedFile } from '../contract/provider.ts';
import { buildUrl, toHttpRequest, transportError, type Exchange } from '../shared/exchange.ts';
import { read, throwRefusal, unreadable } from './wire.ts';

/** The Files API: a resumable upload in one request, then polling until Google has processed the file. */

const file = z.object({
  name: z.string().regex(/^files\/[\w-]+$/),
  uri: z.string().min(1),
  state: z.string().nullish(),
  expirationTime: z.string().nullish().catch(null),
  error: z.object({ message: z.string().nullish() }).nullish().catch(null),
});
type File = z.output<typeof file>;

/** An uploaded file that is ready, as other requests name it. */
export type GeminiFile = UploadedFile & { readonly uri: string };

const UPLOAD_TIMEOUT_MS = 5 * 60_000;
/** Longest that a file may be PROCESSING. */
const PROCESSING_MS = 5 * 60_000;
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 4_000;

/** Uploads a file and waits until it is ACTIVE. Throws UpstreamError. */
export async function uploadFile(
  { http, exchange }: { readonly http: HttpClient; readonly exchange: Exchange },
  input: InputFile,
  context: CallContext,
): Promise<GeminiFile> {
  const url = await beginUpload(exchange, input, context);
  const begun = readFile(parseAnswer(await sendBytes(http, input, { url, context })), 'file');
  const { found, answer } = await whenActive(exchange, begun, context);
  const expires = Date.parse(found.expirationTime ?? '');
  return {
    id: found.name,
    uri: found.uri,
    expiresAt: Number.isNaN(expires) ? null : new Date(expires),
    answer,
  };
}

/** Starts an upload; returns the URL for its bytes. */
async function beginUpload(
  exchange: Exchange,
  { name, bytes, contentType }: InputFile,
  context: CallContext,
): Promise<string> {
  const connection = { ...context.connection, ...uploadBase(context.connection) };
  const answer = await exchange(
    { ...context, connection },
    {
      method: 'POST',
      path: '/files',
      headers: {
        'x-goog-upload-protocol': 'resumable',
        'x-goog-upload-command': 'start',
        'x-goog-upload-header-content-length': String(bytes),
        'x-goog-upload-header-content-type': contentType,
      },
      json: { file: { display_name: name } },
    },
  );
  throwRefusal(answer);
  const url = answer.headers['x-goog-upload-url'];
  if (url === undefined || !URL.canParse(url)) throw unreadable(new Error('no address for the upload'));
  return url;
}

/** The upload path is beside the API's: `/upload/v1beta` for `/v1beta`. */
function uploadBase(connection: Connection): Pick<Connection, 'baseUrl' | 'pathPrefix'> {
  const base = buildUrl(connection, '');
  return { baseUrl: base.replace(/\/(v\d\w*)$/, '/upload/$1'), pathPrefix: '' };
}

/** The URL carries its own permission: our key is not sent there. */
async function sendBytes(
  http: HttpClient,
  input: InputFile,
  { url, context }: { readonly url: string; readonly context: CallContext },
): Promise<HttpResponse> {
  const { trustedOrigins = [], signal } = toHttpRequest(context, { method: 'POST', path: '' });
  // Opened before anything is sent, so that a deleted file fails before the upload starts.
  const stream = await input.open();
  try {
    return await http.request({
      method: 'POST',
      url,
      headers: {
        'content-length': String(input.bytes),
        'x-goog-upload-offset': '0',
        'x-goog-upload-command': 'upload, finalize',
      },
      body: () => stream as AsyncIterable<Uint8Array>,
      timeoutMs: UPLOAD_TIMEOUT_MS,
      maxBytes: 1 << 20,
      ...(signal === undefined ? {} : { signal }),
      retry: 'never',
      trustedOrigins,
    });
  } catch (error) {
    throw transportError(error);
  } finally {
    stream.destroy();
  }
}

async function whenActive(
  exchange: Exchange,
  begun: { readonly found: File; readonly answer: Json },
  context: CallContext,
): Promise<{ readonly found: File; readonly answer: Json }> {
  const deadline = Date.now() + PROCESSING_MS;
  let seen = begun;
  for (let waitMs = FIRST_PAUSE_MS; seen.found.state === 'PROCESSING'; waitMs *= 2) {
    if (Date.now() > deadline) {
      throw new UpstreamError('TIMED_OUT', 'gemini is still processing the file');
    }
    await pause(Math.min(waitMs, LONGEST_PAUSE_MS), undefined, { signal: context.signal }).catch(
      (cause: unknown) => {
        throw new UpstreamError('TIMED_OUT', 'the request was cancelled', { cause });
      },
    );
    const path = `/${seen.found.name}`;
    const answer = await exchange(context, { method: 'GET', path, retry: 'safe' });
    throwRefusal(answer);
    seen = readFile(answer.json, null);
  }
  const { state, error } = seen.found;
  if (state === 'FAILED') {
    throw invalidInput('media', `gemini can't process this file: ${error?.message ?? 'no reason given'}`);
  }
  return seen;
}

function parseAnswer(response: HttpResponse): unknown {
  let json: unknown;
  try {
    json = JSON.parse(response.body.toString('utf8'));
  } catch (cause) {
    if (response.status < 400) throw unreadable(cause);
  }
  throwRefusal({ status: response.status, headers: response.headers, json });
  return json;
}

/** The file of an answer; right after the upload it is wrapped in `file`. */
function readFile(json: unknown, wrapper: 'file' | null): { readonly found: File; readonly answer: Json } {
  const answer = wrapper === null ? json : (json as { readonly file?: unknown } | null)?.[wrapper];
  return { found: read(file, { json: answer }), answer: answer as Json };
}
