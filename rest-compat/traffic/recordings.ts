import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
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

const harHeaders = z.array(z.object({ name: z.string(), value: z.string() }));
const har = z.object({
  log: z.object({
    entries: z.array(
      z.object({
        startedDateTime: z.string().default(''),
        request: z.object({
          method: z.string(),
          url: z.url(),
          headers: harHeaders,
          postData: z
            .object({
              mimeType: z.string().default(''),
              text: z.string().optional(),
              params: z.array(z.object({ name: z.string(), value: z.string().optional() })).optional(),
            })
            .optional(),
        }),
        response: z.object({
          status: z.int(),
          headers: harHeaders,
          content: z.object({ text: z.string().optional(), encoding: z.string().optional() }).optional(),
        }),
      }),
    ),
  }),
});

/** The exchanges of a file, in their order. Throws BAD_USER_INPUT naming the line or field that can't be read. */
export async function* readRecording(file: string): AsyncGenerator<Exchange> {
  if (await isHar(file)) {
    const parsed = har.safeParse(JSON.parse((await readFile(file, 'utf8')).replace(/^\uFEFF/, '')));
    if (!parsed.success) throw badInput('recorded', `${file} is no HAR: ${z.prettifyError(parsed.error)}`);
    for (const entry of parsed.data.log.entries) yield exchangeOfHar(entry);
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

function exchangeOfLine(text: string, place: string): Exchange {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw badInput('recorded', `${place} is no JSON`);
  }
  const parsed = line.safeParse(json);
  if (!parsed.success) throw badInput('recorded', `${place}: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}

type HarEntry = z.output<typeof har>['log']['entries'][number];

function exchangeOfHar({ startedDateTime, request, response }: HarEntry): Exchange {
  const url = new URL(request.url);
  const { text, encoding } = response.content ?? {};
  return {
    at: startedDateTime,
    request: {
      method: request.method.toUpperCase(),
      target: url.pathname + url.search,
      headers: headersOf(request.headers),
      body: bodyOfHar(request.postData),
    },
    response: {
      status: response.status,
      headers: headersOf(response.headers),
      body: text === undefined ? null : encoding === 'base64' ? { base64: text } : { text },
    },
  };
}

/** HTTP/2 pseudo headers are none. */
function headersOf(list: z.output<typeof harHeaders>): Headers {
  const named = list.filter(({ name }) => !name.startsWith(':'));
  return Object.fromEntries(named.map(({ name, value }) => [name.toLowerCase(), value]));
}

/** Browsers keep the texts of multipart forms without their files: those can't be sent again. */
function bodyOfHar(data: HarEntry['request']['postData']): RecordedBody {
  if (data === undefined) return null;
  if (data.text !== undefined) return { text: data.text };
  if (data.params === undefined) return null;
  const form = new URLSearchParams(
    data.params.map(({ name, value = '' }) => [name, value] satisfies [string, string]),
  );
  return data.mimeType.startsWith('multipart/') ? { omittedBytes: 0 } : { text: form.toString() };
}
