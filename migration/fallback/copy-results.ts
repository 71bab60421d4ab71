import { randomUUID } from 'node:crypto';

import { internalCaller } from '../../platform/access/caller.ts';
import { AppError, toError } from '../../platform/errors.ts';
import type { GraphqlExecutor } from '../../platform/graphql/operations/executor.ts';
import { HttpFailure, type HttpClient } from '../../platform/http/http-client.ts';
import { newTraceId } from '../../platform/ids.ts';
import type { JsonObject } from '../../platform/json.ts';
import type { Logger } from '../../platform/process/logger.ts';
import { UploadFile } from '../../rest-compat/documents/media/file.ts';
import { runDocument } from '../../rest-compat/replies/results.ts';
import { toUpload } from '../../rest-compat/request/upload.ts';
import { findAddresses, withAddresses } from './old-answers.ts';

/** Copies the results that an old answer names into Kiln's storage. */
export interface ResultCopier {
  copy(body: JsonObject): Promise<CopiedAnswer>;
}

/** An answer with addresses of copies. */
interface CopiedAnswer {
  readonly body: JsonObject;
  /** False when a result could not be copied now; one that can't be copied at all keeps its address. */
  readonly isComplete: boolean;
}

export interface ResultCopierOptions {
  /** Stores files as Kiln itself: those of callers without a credential would end (ANONYMOUS_UPLOAD_DAYS). */
  readonly executor: Pick<GraphqlExecutor, 'execute'>;
  readonly http: HttpClient;
  readonly logger: Logger;
  /** Origins of the old services: they may be at private addresses. */
  readonly trustedOrigins: readonly string[];
  /** Addresses that begin with it are Kiln's own, and stay. */
  readonly publicUrl: string;
  readonly maxBytes: number;
}

/** Most results of one answer; what is beyond keeps its address. */
const MAX_RESULTS = 100;
const TIMEOUT_MS = 60_000;

/** Creates the copier. */
export function createResultCopier(options: ResultCopierOptions): ResultCopier {
  const { logger, publicUrl } = options;
  return {
    async copy(body) {
      const foreign = findAddresses(body['data']).filter((address) => !address.startsWith(`${publicUrl}/`));
      const copies = new Map<string, string>();
      for (const address of foreign.slice(0, MAX_RESULTS)) {
        try {
          copies.set(address, await copyOne(options, address));
        } catch (thrown) {
          if (isForGood(thrown)) {
            logger.warn({ error: toError(thrown), address }, 'a result of the old service keeps its address');
            continue;
          }
          // The others wait for another try, too: an old storage that is away would cost a timeout each.
          logger.warn({ error: toError(thrown), address }, 'a result of the old service could not be copied');
          return { body: withAddresses(body, copies), isComplete: false };
        }
      }
      return { body: withAddresses(body, copies), isComplete: true };
    },
  };
}

const FOR_GOOD: ReadonlySet<string> = new Set([
  'REFUSED_ADDRESS',
  'TOO_LARGE',
  'BAD_USER_INPUT',
  'PAYLOAD_TOO_LARGE',
  'NOT_FOUND',
]);

/** Whether no other try can do it: the address is private, or the file is gone, empty or too large. */
function isForGood(thrown: unknown): boolean {
  return (thrown instanceof HttpFailure || thrown instanceof AppError) && FOR_GOOD.has(thrown.code);
}

/** The address of the copy. Throws where there is none, for good (isForGood) or for now. */
async function copyOne(
  { executor, http, trustedOrigins, maxBytes }: ResultCopierOptions,
  address: string,
): Promise<string> {
  const request = { method: 'GET', url: address, timeoutMs: TIMEOUT_MS, maxBytes, trustedOrigins } as const;
  const { status, headers, body } = await http.download({ ...request, retry: 'safe' });
  if (status !== 200) {
    body.destroy();
    if (status >= 400 && status < 500 && status !== 429)
      throw new AppError('NOT_FOUND', `a result is answered with ${status}`);
    throw new Error(`a result is answered with ${status}`);
  }
  // Announced as too large.
  if (body.errored !== null) throw body.errored;
  const filename = new URL(address).pathname.split('/').at(-1) || randomUUID();
  const contentType = headers['content-type']?.split(';', 1)[0] ?? 'application/octet-stream';
  const file = toUpload({ field: 'file', filename, contentType, encoding: '7bit', body, requestBytes: null });
  const context = { caller: internalCaller(newTraceId()), signal: new AbortController().signal };
  const variables = { file, temporary: false, cdn: true };
  try {
    return (await runDocument({ executor, context }, UploadFile, variables)).uploadFile.url;
  } catch (error) {
    // What broke off on its way here is masked as a failure of the upload.
    throw body.errored ?? error;
  }
}
