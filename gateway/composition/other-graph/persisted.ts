import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as endOfTurn } from 'node:timers/promises';

import type { ProcessParts } from '../../../platform/runtime/run-process.ts';
import type { GatewayFile } from '../../configuration/gateway-file.schema.ts';
import type { FederatedExecutor } from '../../federation/federation.ts';
import { readManifest } from '../../persisted/manifest.ts';
import { createPersistedOperations, type PersistedOperations } from '../../persisted/persisted-operations.ts';

/** Most operations that are planned before the gateway serves. */
const MAX_WARMED = 1_000;

/** The persisted operations that the configuration names, planned; undefined where it names none. Throws NOT_CONFIGURED for a manifest that is none. */
export async function openPersisted(
  { config, logger }: ProcessParts,
  { persistedOperations: settings }: GatewayFile,
  federation: FederatedExecutor,
): Promise<PersistedOperations | undefined> {
  if (settings === undefined) return undefined;
  const { manifest, mode = 'allow', automatic = false } = settings;
  const file = manifest && path.resolve(path.dirname(config.gatewayFile?.path ?? ''), manifest);
  const operations = file === undefined ? [] : readManifest(await readFile(file, 'utf8'), file);
  for (const { id, body, name } of operations.slice(0, MAX_WARMED)) {
    try {
      federation.plan(body, name);
    } catch (error) {
      logger.warn({ id, name, error }, 'an operation of the manifest does not fit the supergraph');
    }
    await endOfTurn();
  }
  return createPersistedOperations({ operations, mode, isAutomatic: automatic, logger });
}
