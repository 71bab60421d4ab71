import type { Database } from '../../platform/database/database.ts';
import type { GraphqlExecutor } from '../../platform/graphql/operations/executor.ts';
import { createOutboundRule } from '../../platform/http/safe-url.ts';
import { createHttpClient } from '../../platform/http/undici-http-client.ts';
import type { ProcessParts } from '../../platform/runtime/run-process.ts';
import { createResultCopier } from '../../rest-compat/fallback/copy-results.ts';
import { createFallback, type Fallback } from '../../rest-compat/fallback/fallback.ts';
import { createOldReader } from '../../rest-compat/fallback/old-reader.ts';
import { createFallbackReads } from '../../rest-compat/fallback/reads.ts';
import { createStoredAnswers } from '../../rest-compat/fallback/stored-answers.ts';

interface FallbackParts {
  readonly executor: GraphqlExecutor;
  readonly publicUrl: string;
  /** Stores answers that do not change; absent: none are stored. */
  readonly database?: Database | undefined;
}

/** The fallback of FALLBACK_MEDIA_URL and FALLBACK_WORKFLOW_URL; what an import has stored is answered without them, too. */
export function composeFallback(
  { config, logger, lifecycle }: ProcessParts,
  { executor, publicUrl, database }: FallbackParts,
): Fallback | undefined {
  const urls = Object.values(config.fallback).filter((url) => url !== null);
  if (urls.length === 0 && database === undefined) return undefined;
  const http = createHttpClient({
    outbound: createOutboundRule({ allow: config.outbound.allow }),
    logger,
  });
  lifecycle.add('calls of the old services', () => http.close());
  const readerOf = (url: string | null) => (url === null ? null : createOldReader({ http, logger, url }));
  return createFallback({
    executor,
    logger,
    authMode: config.auth.mode,
    readers: { media: readerOf(config.fallback.media), workflow: readerOf(config.fallback.workflow) },
    // Addresses that end are no use in an answer that is stored.
    stored: database === undefined || config.files.urlTtlSeconds > 0 ? null : createStoredAnswers(database),
    copier: createResultCopier({
      http,
      logger,
      trustedOrigins: urls.map((url) => new URL(url).origin),
      publicUrl,
      maxBytes: config.limits.uploadMaxBytes,
    }),
    reads: createFallbackReads(logger),
  });
}
