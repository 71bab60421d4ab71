import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';

import { z } from 'zod';

import { badInput } from '../../platform/errors.ts';
import type { Exchange, Headers, RecordedBody } from './exchange.ts';

/** Reads recordings: HAR, or one JSON request a line, as `npm run record` writes them. */

const body = z
  .union([
    z.object({ text: z.string() }),
    z.object({ base64: z.base64() }),
    z.object({ omittedBytes: z.number() }),
  ])
  .nullable()
  .default(null);
const headers = z.record(z.string(), z.string()).default({});
const line = z.object({
  at: z.string().default(''),
  request: z.object({ method: z.string(), target: z.string().startsWith('/'), headers, body }),
  response: z.object({ status: z.int(), headers, body }),
});

/** Largest HAR, in bytes: it is one document, which is read whole. */
const MAX_HAR_BYTES = 500_000_000;

/** How a recording is read. */
export interface RecordingOptions {
  readonly file: string;
  /** Base address of the recorded service; a HAR's requests elsewhere are left out. Null: all of them count. */
  readonly base: string | null;
}

/** The exchanges of a file, in their order. Throws BAD_USER_INPUT naming the line or field that can't be read. */
export async function* readRecording({ file, base }: RecordingOptions): AsyncGenerator<Exchange> {
  if (await isHar(file)) {
    yield* exchangesOfHar(await readHar(file), base);
    return;
  }
  let number = 0;
  for await (const text of createInterface({ input: createReadStream(file) })) {
    number += 1;
    if (text.trim() !== '') yield exchangeOfLine(text, `${file}, line ${number}`);
  }
}

/** A HAR is one document that begins with its log; a line has a request and an answer. */
async function isHar(file: string): Promise<boolean> {
  for await (const chunk of createReadStream(file, { encoding: 'utf8', end: 4_095 })) {
    return /^\uFEFF?\s*\{\s*"log"/.test(String(chunk));
  }
  return false;
}

async function readHar(file: string): Promise<unknown> {
  const { size } = await stat(file);
  if (size > MAX_HAR_BYTES)
    throw badInput('recorded', `${file} has ${size} bytes: record shorter, or by npm run record`);
  return parsed(await readFile(file, 'utf8'), file);
}

function parsed(text: string, place: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    throw badInput('recorded', `${place} is no JSON`);
  }
}

function exchangeOfLine(text: string, place: string): Exchange {
  const found = line.safeParse(parsed(text, place));
  if (!found.success) throw badInput('recorded', `${place}: ${z.prettifyError(found.error)}`);
  return found.data;
}

/** Reads HAR 1.2, as browsers and proxies write it. */

const harHeaders = z.array(z.object({ name: z.string(), value: z.string() }));
const postData = z.object({
  mimeType: z.string().default(''),
  text: z.string().optional(),
  params: z.array(z.looseObject({ name: z.string(), value: z.string().optional() })).optional(),
});
const entry = z.object({
  startedDateTime: z.string().default(''),
  request: z.object({ method: z.string(), url: z.url(), headers: harHeaders, postData: postData.optional() }),
  response: z.object({
    status: z.int(),
    headers: harHeaders,
    content: z
      .object({
        size: z.number().default(0),
        text: z.string().optional(),
        encoding: z.string().optional(),
      })
      .optional(),
  }),
});
const har = z.object({ log: z.object({ entries: z.array(entry) }) });

/**
 * The requests to a base address and their answers; of all addresses when it is null. BAD_USER_INPUT for what is no HAR,
 * and when nothing goes to the base address.
 */
export function exchangesOfHar(document: unknown, base: string | null): readonly Exchange[] {
  const parsed = har.safeParse(document);
  if (!parsed.success) throw badInput('recorded', `this is no HAR: ${z.prettifyError(parsed.error)}`);
  // What a browser asks before it sends a request to another origin is no client's doing.
  const sent = parsed.data.log.entries.filter(({ request }) => request.method.toUpperCase() !== 'OPTIONS');
  const found = sent.flatMap((one) => {
    const target = parseTarget(one.request.url, base);
    return target === null ? [] : [toExchange(one, target)];
  });
  if (base === null || found.length > 0 || sent.length === 0) return found;
  const origins = [...new Set(sent.map(({ request }) => new URL(request.url).origin))].slice(0, 10);
  throw badInput(
    'base',
    `no request of the HAR goes to ${base}; --base may be one of: ${origins.join(', ')}`,
  );
}

/** Path and query below the base address; null for another service. */
function parseTarget(url: string, base: string | null): string | null {
  const { origin, pathname, search } = new URL(url);
  if (base === null) return pathname + search;
  const prefix = new URL(base);
  const path = prefix.pathname.replace(/\/$/, '');
  if (origin !== prefix.origin || !(pathname === path || pathname.startsWith(`${path}/`))) return null;
  return (pathname.slice(path.length) || '/') + search;
}

function toExchange(
  { startedDateTime, request, response }: z.output<typeof entry>,
  target: string,
): Exchange {
  return {
    at: startedDateTime,
    request: {
      method: request.method.toUpperCase(),
      target,
      headers: toHeaders(request.headers),
      ...toBody(request.postData),
    },
    response: {
      status: response.status,
      headers: toHeaders(response.headers),
      body: toAnswerBody(response.content),
    },
  };
}

/** A browser forgets answers, but not that they had a body. */
function toAnswerBody(content: z.output<typeof entry>['response']['content']): RecordedBody {
  const { size = 0, text, encoding } = content ?? {};
  if (!text) return size > 0 ? { omittedBytes: size } : null;
  return encoding === 'base64' ? { base64: text } : { text };
}

/** HTTP/2 pseudo headers are none. */
function toHeaders(list: z.output<typeof harHeaders>): Headers {
  const named = list.filter(({ name }) => !name.startsWith(':'));
  return Object.fromEntries(named.map(({ name, value }) => [name.toLowerCase(), value]));
}

/** The files of a form are not in a HAR, even where its text is: such a form can't be sent again, but has its names. */
function toBody(
  data: z.output<typeof postData> | undefined,
): Pick<Exchange['request'], 'body' | 'formNames'> {
  if (data === undefined) return { body: null };
  const { mimeType, text, params = [] } = data;
  if (mimeType.startsWith('multipart/')) {
    const names = text === undefined ? params.map(({ name }) => name) : namesIn(text);
    const hasFiles = text === undefined || /;\s*filename\*?=/i.test(text);
    return { body: hasFiles ? { omittedBytes: 0 } : { text }, formNames: [...new Set(names)] };
  }
  if (text !== undefined) return { body: { text } };
  return { body: params.length === 0 ? null : urlencoded(params) };
}

function namesIn(text: string): readonly string[] {
  return [...text.matchAll(/^content-disposition:[^\r\n]*?[;\s]name="([^"]*)"/gim)].map(
    ([, name = '']) => name,
  );
}

function urlencoded(params: NonNullable<z.output<typeof postData>['params']>): RecordedBody {
  const pairs = params.map(({ name, value = '' }) => [name, value] satisfies [string, string]);
  return { text: new URLSearchParams(pairs).toString() };
}
