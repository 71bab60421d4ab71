import type { IncomingMessage } from 'node:http';

import type { ProviderWebhook } from '../providers/contract/provider.ts';

/** Largest webhook in bytes. */
const MAX_BYTES = 1024 * 1024;

/** A request whose body may have been read already. */
type WebhookRequest = IncomingMessage & { readonly body?: unknown };

/** A provider webhook as it came in, its body byte for byte; null when it is too large. */
export async function readWebhook(request: WebhookRequest): Promise<ProviderWebhook | null> {
  const body = Buffer.isBuffer(request.body) ? request.body : await readBytes(request);
  if (body === null) return null;
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [
      name,
      Array.isArray(value) ? (value.at(-1) ?? '') : (value ?? ''),
    ]),
  );
  return { headers, body };
}

async function readBytes(request: IncomingMessage): Promise<Buffer | null> {
  const declared = Number(request.headers['content-length'] ?? 0);
  if (declared > MAX_BYTES) return null;
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BYTES) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
