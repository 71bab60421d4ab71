import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';

import { createOpenaiFace } from '../../faces/openai/face.ts';
import { validateFace } from '../../faces/openai/validate.ts';
import type { ProcessParts } from '../../platform/runtime/run-process.ts';
import type { RestHandler } from '../../rest-compat/router.ts';
import type { FederatedExecutor } from '../federation/federation.ts';
import type { RateLimiter } from '../limits/rate-limit.ts';
import { contextOf } from '../request/request-context.ts';
import { forRest } from './for-rest.ts';

/** Answers a request for a file. */
export type ServeFile = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** What the face is composed of. */
export interface FaceOptions {
  readonly publicUrl: string;
  readonly federation: FederatedExecutor;
  readonly rateLimiter: RateLimiter | undefined;
  readonly stopping: AbortSignal;
  readonly files?: ServeFile | undefined;
  /** Opens a file by the path and query of its address. */
  readonly openFile?: ((address: string) => Promise<Readable | null>) | undefined;
}

/** OpenAI's API, where it is on and the schema has what it asks for; a foreign supergraph may not. */
export function composeOpenaiFace(
  { config, logger }: ProcessParts,
  { publicUrl, federation, rateLimiter, stopping, files, openFile }: FaceOptions,
): RestHandler | undefined {
  const settings = config.openaiFace;
  if (settings === null || files === undefined || openFile === undefined) return undefined;
  if (config.split.isOtherGraph && validateFace(federation.apiSchema()).length > 0) return undefined;
  return createOpenaiFace({
    executor: forRest(federation),
    contextFor: contextOf,
    rateLimiter,
    openFile,
    serveFile: files,
    settings: {
      ...settings,
      isOpen: config.auth.mode === 'open',
      publicUrl,
      uploadMaxBytes: config.limits.uploadMaxBytes,
    },
    stopping,
    logger,
  });
}
