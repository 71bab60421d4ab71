import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';

import { validate, type DocumentNode, type GraphQLSchema } from 'graphql';

import { createOpenaiFace } from '../../faces/openai/face.ts';
import { faceRoutes } from '../../faces/openai/routes.ts';
import type { ProcessParts } from '../../platform/runtime/run-process.ts';
import type { RestHandler } from '../../rest-compat/router.ts';
import type { FederatedExecutor } from '../federation/federation.ts';
import type { RateLimiter } from '../limits/rate-limit.ts';
import { contextOf } from '../request/request-context.ts';
import type { Handler } from '../server/middleware.ts';
import { forRest } from './for-rest.ts';

/** What the face is composed of. */
export interface FaceOptions {
  readonly publicUrl: string;
  readonly federation: FederatedExecutor;
  readonly rateLimiter: RateLimiter | undefined;
  readonly stopping: AbortSignal;
  readonly files?: Handler | undefined;
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
  if (config.split.supergraphFile !== null && !fits(federation.apiSchema())) return undefined;
  const serveFile = async (
    request: IncomingMessage,
    response: Parameters<RestHandler['find']>[0] | unknown,
  ) => void (await files(request as never, response as never, () => undefined));
  return createOpenaiFace({
    executor: forRest(federation),
    contextFor: contextOf,
    rateLimiter,
    openFile,
    serveFile,
    settings: { ...settings, publicUrl, uploadMaxBytes: config.limits.uploadMaxBytes },
    stopping,
    logger,
  });
}

function fits(schema: GraphQLSchema): boolean {
  const documents = new Set<DocumentNode>(faceRoutes.flatMap((route) => route.documents));
  return [...documents].every((document) => validate(schema, document).length === 0);
}
