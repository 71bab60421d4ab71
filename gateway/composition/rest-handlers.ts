import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import type { FallbackParts } from '../../migration/fallback/compose.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { SIGN_INS, WRITES } from '../../platform/access/root-field-rates.ts';
import type { ProcessParts } from '../../platform/runtime/run-process.ts';
import type { Fallback } from '../../rest-compat/fallback.ts';
import { createRestHandler, type RestHandler, restRouter } from '../../rest-compat/router.ts';
import { sections } from '../../rest-compat/tables.ts';
import type { FederatedExecutor } from '../federation/federation.ts';
import type { RateLimiter } from '../limits/rate-limit.ts';
import { requireContext } from '../request/request-context.ts';
import type { Handler } from '../server/middleware.ts';
import {
  composeFaces,
  composeMcp,
  type FaceOptions,
  forRest,
  locateFaces,
  type McpParts,
  sectionsThatFit,
} from './faces.ts';

/** What all of them work with. */
interface SharedParts {
  readonly federation: FederatedExecutor;
  readonly rateLimiter: RateLimiter | undefined;
  readonly stopping: AbortSignal;
}

type RestOptions = Omit<FaceOptions & McpParts, keyof SharedParts> & Omit<FallbackParts, 'executor'>;

/** What serves the paths of other people's protocols and the documented ones. */
export async function composeRestHandlers(parts: ProcessParts, options: RestOptions, shared: SharedParts) {
  const fallback = await loadFallback(parts, { ...options, executor: shared.federation });
  const faces = composeFaces(parts, { ...options, ...shared });
  const rest = firstHandler(faces.openai, faces.comfy, composeRest(parts, options, shared, fallback));
  const mcp = await composeMcp(parts, { ...options, ...shared });
  return {
    mcp,
    rest: rest && (restRouter(rest) as Handler),
    restHandler: rest,
    ...locateFaces(parts.config, faces),
  };
}

/** The first one that knows a path: the faces, then the documented operations. */
function firstHandler(...all: readonly (RestHandler | undefined)[]): RestHandler | undefined {
  const handlers = all.filter((handler) => handler !== undefined);
  if (handlers.length === 0) return undefined;
  return {
    find(request) {
      for (const handler of handlers) {
        const serve = handler.find(request);
        if (serve !== null) return serve;
      }
      return null;
    },
  };
}

function composeRest(
  parts: ProcessParts,
  options: RestOptions,
  { federation, rateLimiter, stopping }: SharedParts,
  fallback: Fallback | undefined,
): RestHandler | undefined {
  const { config, logger } = parts;
  const { publicUrl } = options;
  // `npm run schema` has compared them with Kiln's own supergraph.
  const isForeign = config.split.isOtherGraph;
  const served = isForeign ? sectionsThatFit(federation.apiSchema(), logger) : sections;
  if (served.length === 0) return undefined;
  return createRestHandler({
    sections: served,
    executor: forRest(federation),
    contextFor: requireContext,
    stopping,
    ...(rateLimiter === undefined ? {} : { rateLimiter }),
    writes: WRITES,
    signIns: SIGN_INS,
    settings: {
      syncMaxWaitSeconds: config.limits.syncMaxWaitSeconds,
      uploadMaxBytes: config.limits.uploadMaxBytes,
      publicUrl,
      version: packageJson.version,
      authMode: config.auth.mode,
    },
    fallback,
    logger,
  });
}

const MIGRATION = new URL('../../migration/fallback/compose.ts', import.meta.url);

/** The fallback to existing services, from `migration/`, which an image may leave out once a migration is over. */
async function loadFallback(parts: ProcessParts, options: FallbackParts): Promise<Fallback | undefined> {
  if (existsSync(fileURLToPath(MIGRATION))) {
    const { composeFallback } = await import('../../migration/fallback/compose.ts');
    return composeFallback(parts, options);
  }
  if (Object.values(parts.config.fallback).some((url) => url !== null)) {
    throw new Error(
      'FALLBACK_MEDIA_URL and FALLBACK_WORKFLOW_URL need migration/, which this image does not have',
    );
  }
  return undefined;
}
