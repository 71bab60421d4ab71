import { randomUUID } from 'node:crypto';

import { toError } from '../../platform/errors.ts';
import type { HttpClient } from '../../platform/http/http-client.ts';
import type { JsonObject } from '../../platform/json.ts';
import type { Logger } from '../../platform/process/logger.ts';
import { UploadFile } from '../documents/media/file.ts';
import { type Execution, runDocument } from '../replies/results.ts';
import { uploadOf } from '../request/upload.ts';
import { addressesOf, withAddresses } from './ended.ts';

/** Copies the results that an old answer names into Kiln's storage. */
export interface ResultCopier {
  /**
   * The answer with addresses of the copies; null when one could not be copied, so that another read tries again. Files
   * belong to the caller of the execution.
   */
  copy(body: JsonObject, execution: Execution): Promise<JsonObject | null>;
}

export interface ResultCopierOptions {
  readonly http: HttpClient;
  readonly logger: Logger;
  /** Origins of the old services: they may be at private addresses. */
  readonly trustedOrigins: readonly string[];
  /** Addresses that begin with it are Kiln's own, and stay. */
  readonly publicUrl: string;
  readonly maxBytes: number;
}

/** Most results of one answer. */
const MAX_RESULTS = 20;
const TIMEOUT_MS = 60_000;

/** Creates the copier. */
export function createResultCopier(options: ResultCopierOptions): ResultCopier {
  const { logger, publicUrl } = options;
  return {
    async copy(body, execution) {
      const foreign = addressesOf(body['data']).filter((address) => !address.startsWith(`${publicUrl}/`));
      const copies = new Map<string, string>();
      for (const address of foreign.slice(0, MAX_RESULTS)) {
        try {
          copies.set(address, await copyOne(options, address, execution));
        } catch (thrown) {
          logger.warn({ error: toError(thrown) }, 'a result of the old service could not be copied');
          return null;
        }
      }
      return withAddresses(body, copies);
    },
  };
}

async function copyOne(
  { http, trustedOrigins, maxBytes }: ResultCopierOptions,
  address: string,
  execution: Execution,
): Promise<string> {
  const request = { method: 'GET', url: address, timeoutMs: TIMEOUT_MS, maxBytes, trustedOrigins } as const;
  const { status, headers, body } = await http.download({ ...request, retry: 'safe' });
  if (status !== 200) {
    body.destroy();
    throw new Error(`a result is answered with ${status}`);
  }
  const filename = new URL(address).pathname.split('/').at(-1) || randomUUID();
  const contentType = headers['content-type']?.split(';', 1)[0] ?? 'application/octet-stream';
  const file = uploadOf({ field: 'file', filename, contentType, encoding: '7bit', body });
  return (await runDocument(execution, UploadFile, { file, temporary: false, cdn: true })).uploadFile.url;
}
