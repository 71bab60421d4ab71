import type { Database } from '../../platform/database/database.ts';
import type { GraphqlExecutor } from '../../platform/graphql/operations/executor.ts';
import type { HttpClient } from '../../platform/http/http-client.ts';
import { createOutboundRule } from '../../platform/http/safe-url.ts';
import { createHttpClient } from '../../platform/http/undici-http-client.ts';
import type { Metrics } from '../../platform/metrics/metrics.ts';
import type { Logger } from '../../platform/process/logger.ts';
import type { ProcessParts } from '../../platform/runtime/run-process.ts';
import type { Fallback } from '../../rest-compat/fallback.ts';
import { createResultCopier } from './copy-results.ts';
import { createFallback, type FallbackReads } from './fallback.ts';
import { createOldReader } from './old-reader.ts';
import { createEndedAnswers } from './store-ended.ts';
import { createStoredAnswers } from './stored-answers.ts';

export interface FallbackParts {
  readonly executor: GraphqlExecutor;
  readonly publicUrl: string;
  readonly metrics: Metrics;
  /** Stores answers that do not change; absent: none are stored. */
  readonly database?: Database | undefined;
}

/** The fallback of FALLBACK_MEDIA_URL and FALLBACK_WORKFLOW_URL; what an import has stored is answered without them, too. */
export function composeFallback(parts: ProcessParts, options: FallbackParts): Fallback | undefined {
  const { config, logger, lifecycle } = parts;
  const urls = Object.values(config.fallback).filter((url) => url !== null);
  if (urls.length === 0 && options.database === undefined) return undefined;
  if (urls.length > 0 && options.database === undefined) {
    logger.warn('answers of the old services are passed on, not stored: set DATABASE_URL for the gateway');
  }
  const http = createHttpClient({
    outbound: createOutboundRule({ allow: config.outbound.allow }),
    logger,
  });
  lifecycle.add('calls of the old services', () => http.close());
  const createReader = (url: string | null) => (url === null ? null : createOldReader({ http, logger, url }));
  return createFallback({
    executor: options.executor,
    logger,
    authMode: config.auth.mode,
    readers: { media: createReader(config.fallback.media), workflow: createReader(config.fallback.workflow) },
    ended: endedAnswers(parts, options, { urls, http }),
    reads: createFallbackReads(logger, options.metrics),
  });
}

/** Null where nothing can be stored: without a database, or when addresses of copies would end (FILES_URL_TTL). */
function endedAnswers(
  { config, logger }: ProcessParts,
  { database, executor, publicUrl }: FallbackParts,
  { urls, http }: { readonly urls: readonly string[]; readonly http: HttpClient },
) {
  if (database === undefined || config.files.urlTtlSeconds > 0) return null;
  const trustedOrigins = urls.map((url) => new URL(url).origin);
  const maxBytes = config.limits.uploadMaxBytes;
  const copying = { executor, http, logger, trustedOrigins, publicUrl, maxBytes };
  const copier = urls.length === 0 ? null : createResultCopier(copying);
  return createEndedAnswers({ stored: createStoredAnswers(database), copier, logger });
}

/** Counts reads in the metrics, and logs each. There are few operations, outcomes and ages. */
function createFallbackReads(logger: Logger, metrics: Metrics): FallbackReads {
  const counted = metrics.counter(
    'kiln_fallback_reads_total',
    'Reads of ids that an old service may know, by who answered and how old the thing is.',
    ['operation', 'outcome', 'age'],
  );
  return {
    count(operation, outcome, age) {
      counted({ operation, outcome, age });
      logger.info({ operation, outcome, age }, 'a read of an old id');
    },
  };
}
