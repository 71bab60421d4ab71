import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { createInterface } from 'node:readline';

import { z } from 'zod';

import { badInput } from '../../platform/errors.ts';
import type { Exchange } from './exchange.ts';
import { exchangesOfHar } from './har.ts';

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
