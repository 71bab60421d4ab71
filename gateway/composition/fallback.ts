import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import type { FallbackParts } from '../../migration/fallback/compose.ts';
import type { ProcessParts } from '../../platform/runtime/run-process.ts';
import type { Fallback } from '../../rest-compat/fallback.ts';

const MIGRATION = new URL('../../migration/fallback/compose.ts', import.meta.url);

/** The fallback to existing services, from `migration/`, which an image may leave out once a migration is over. */
export async function loadFallback(
  parts: ProcessParts,
  options: FallbackParts,
): Promise<Fallback | undefined> {
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
