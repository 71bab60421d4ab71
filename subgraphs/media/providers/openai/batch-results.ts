import { randomUUID } from 'node:crypto';
import { readSync } from 'node:fs';
import { open, rm, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { LRUCache } from 'lru-cache';
import { z } from 'zod';

import type { HttpClient } from '../../../../platform/http/http-client.ts';
import { parseJson } from '../../../../platform/json.ts';
import { UpstreamError } from '../../domain/failure.ts';
import type { CallContext, Outcome, RemoteFile } from '../contract/provider.ts';
import { errorOfStatus, toHttpRequest, transportError } from '../shared/exchange.ts';
import { id, text } from '../shared/reader.ts';
import { imageOutcome, throwStartRefusal, unreadable } from './wire.ts';

/**
 * The results of batches. A file of them has the images of all lines, so it is read once, and its images wait in a temporary
 * file until each attempt has got its own. That file is a cache: after a restart the results are read again.
 */

/** How one line of a batch ended. */
type LineResult = { readonly outcome: Outcome } | { readonly error: UpstreamError };

/** The results of ended batches. */
export type BatchResults = ReturnType<typeof createBatchResults>;

/** What names the results of a batch. */
interface EndedBatch {
  readonly id: string;
  /** Ids of the files of results: what went well, and what did not. */
  readonly files: readonly string[];
}

interface Kept {
  /** Its images, one behind the other. */
  readonly images: FileHandle;
  /** Of all of them. */
  readonly bytes: number;
  readonly lines: Map<string, LineResult>;
}

/** Batches whose results are kept, all of their bytes, and milliseconds after their last use. */
const MOST_KEPT = 512;
const MOST_KEPT_BYTES = 16 * 2 ** 30;
const KEPT_MS = 600_000;
/** Largest file of results, and the longest time for reading one, in milliseconds. */
const MOST_BYTES = 2 ** 32;
const LONGEST_READ_MS = 1_800_000;
/** Milliseconds for which a status waits for them. */
const PATIENCE_MS = 8_000;
const CHUNK_TIMEOUT_MS = 60_000;

/** Makes the cache. */
export function createBatchResults(http: HttpClient) {
  const kept = new LRUCache<string, Promise<Kept>>({
    max: MOST_KEPT,
    maxSize: MOST_KEPT_BYTES,
    ttl: KEPT_MS,
    updateAgeOnGet: true,
    ttlAutopurge: true,
    // One that could not be read has left nothing.
    dispose: (reading) =>
      void reading.then(
        ({ images }) => images.close(),
        () => undefined,
      ),
  });
  return {
    /** The results of a batch by its lines, or null while they are still read. Throws UpstreamError when they can't be. */
    async read(
      batch: EndedBatch,
      { connection }: CallContext,
    ): Promise<ReadonlyMap<string, LineResult> | null> {
      let reading = kept.get(batch.id);
      if (reading === undefined) {
        reading = readAll(http, batch, { connection, signal: AbortSignal.timeout(LONGEST_READ_MS) });
        kept.set(batch.id, reading, { size: 1 });
        const counted = reading;
        reading.then(
          // As large as it has turned out to be.
          ({ bytes }) => {
            if (kept.peek(batch.id) === counted) kept.set(batch.id, counted, { size: Math.max(1, bytes) });
          },
          () => kept.delete(batch.id),
        );
      }
      const { promise: late, resolve } = Promise.withResolvers<null>();
      const timer = setTimeout(() => resolve(null), PATIENCE_MS);
      try {
        return (await Promise.race([reading, late]))?.lines ?? null;
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** A file without a name: it is gone once it is closed, also by the end of a process that is killed. */
async function namelessFile(): Promise<FileHandle> {
  const name = path.join(tmpdir(), `kiln-batch-${randomUUID()}`);
  const file = await open(name, 'wx+', 0o600);
  await rm(name);
  return file;
}

async function readAll(http: HttpClient, { files }: EndedBatch, context: CallContext): Promise<Kept> {
  const images = await namelessFile();
  const lines = new Map<string, LineResult>();
  let bytes = 0;
  try {
    for (const file of files) {
      let unread: unknown = null;
      for await (const line of readLines(await download(http, file, context))) {
        bytes += line.length;
        const parsed = resultLine.safeParse(parseJson(line));
        if (parsed.success) lines.set(parsed.data.custom_id, await readResult(parsed.data, images));
        else unread = parsed.error;
      }
      // One that can't be read does not keep the others from their images; a file without any other is none of results.
      if (unread !== null && lines.size === 0) throw unreadable(unread);
    }
  } catch (error) {
    await images.close();
    throw error;
  }
  return { images, bytes, lines };
}

async function download(
  http: HttpClient,
  file: string,
  context: CallContext,
): Promise<AsyncIterable<Buffer>> {
  const request = toHttpRequest(context, {
    method: 'GET',
    path: `/files/${encodeURIComponent(file)}/content`,
    timeoutMs: CHUNK_TIMEOUT_MS,
    maxBytes: MOST_BYTES,
  });
  const { status, headers, body } = await http.download(request).catch((error: unknown) => {
    throw transportError(error);
  });
  if (status === 200) return body as AsyncIterable<Buffer>;
  body.destroy();
  const answer = { status, headers, json: undefined };
  throw errorOfStatus(answer, `openai: HTTP ${status} for the results`) ?? unreadable(new Error(`${status}`));
}

/** By line feeds alone: a text of JSON may have other ends of lines in it. */
async function* readLines(body: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  try {
    for await (const chunk of body) {
      let from = 0;
      for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, from)) {
        yield Buffer.concat([...parts, chunk.subarray(from, end)]).toString('utf8');
        parts = [];
        from = end + 1;
      }
      parts.push(chunk.subarray(from));
    }
  } catch (error) {
    throw transportError(error);
  }
  const rest = Buffer.concat(parts).toString('utf8');
  if (rest.trim() !== '') yield rest;
}

const resultLine = z.object({
  custom_id: z.string(),
  response: z.object({ status_code: z.number(), body: z.unknown().optional() }).nullish().catch(null),
  error: z.object({ code: id, message: text }).nullish().catch(null),
});
type ResultLine = z.output<typeof resultLine>;

/** The result of a line; its images are laid aside. */
async function readResult(
  { response, error }: Omit<ResultLine, 'custom_id'>,
  images: FileHandle,
): Promise<LineResult> {
  if (!response) return { error: unanswered(error?.message ?? error?.code ?? 'no answer') };
  const answer = { status: response.status_code, headers: {}, json: response.body };
  try {
    throwStartRefusal(answer);
    const outcome = imageOutcome(answer);
    const files: RemoteFile[] = [];
    for (const file of outcome.files) {
      files.push('content' in file ? await laidAside(file, images) : file);
    }
    return { outcome: { ...outcome, files } };
  } catch (thrown) {
    if (thrown instanceof UpstreamError) return { error: thrown };
    throw thrown;
  }
}

/** A line that its batch ended without: nothing was made of it, so that another binding may. */
export function unanswered(why: string): UpstreamError {
  return new UpstreamError('LOST', `openai: the batch ended without it: ${why}`.slice(0, 500));
}

/** Its bytes are read when they are stored: hundreds of lines end at once. */
async function laidAside(
  { content, contentType }: Extract<RemoteFile, { content: Uint8Array }>,
  images: FileHandle,
): Promise<RemoteFile> {
  const { size: place } = await images.stat();
  const { byteLength: length } = content;
  await images.writeFile(content);
  return {
    contentType,
    get content() {
      const bytes = Buffer.allocUnsafe(length);
      const read = readSync(images.fd, bytes, 0, length, place);
      if (read < length) throw new Error(`an image of a batch has ${read} of ${length} bytes`);
      return bytes;
    },
  };
}
