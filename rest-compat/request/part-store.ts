import { toError } from '../../platform/errors.ts';
import type { Logger } from '../../platform/process/logger.ts';
import { RemoveFile } from '../documents/media/file.ts';
import { type Execution, runDocument } from '../replies/results.ts';
import type { Param, UploadedFile } from '../route/param.ts';
import type { IncomingFile } from './body/file-part.ts';
import { isPermanent, uploadPart } from './upload.ts';

/**
 * Stores the file parts of one request. Permanent ones are removed again when the request is refused, or when a part
 * with a better name takes their place; temporary ones expire.
 */
export interface PartStore {
  readonly store: (file: IncomingFile, param: Param<unknown>) => Promise<UploadedFile>;
  /** Removes every permanent file but these. A failure is logged, and the request goes on. */
  keepOnly(files: readonly unknown[]): Promise<void>;
}

/** What the parts of one request are stored with. */
export interface PartStoreDeps extends Execution {
  readonly logger: Logger;
}

/** Creates the store of one request. */
export function createPartStore({ executor, context, logger }: PartStoreDeps): PartStore {
  const permanent: Promise<UploadedFile>[] = [];
  // Removal goes on when the caller has disconnected.
  const removing = { executor, context: { ...context, signal: new AbortController().signal } };
  return {
    store(file, param) {
      const stored = uploadPart({ executor, context }, file, param);
      if (isPermanent(param)) permanent.push(stored);
      return stored;
    },
    async keepOnly(files) {
      for (const result of await Promise.allSettled(permanent)) {
        if (result.status === 'rejected' || files.includes(result.value)) continue;
        const { id, manageToken } = result.value;
        try {
          await runDocument(removing, RemoveFile, { id, manageToken });
        } catch (error) {
          logger.warn({ error: toError(error), mediaId: id }, 'a file of a refused request stays');
        }
      }
    },
  };
}
