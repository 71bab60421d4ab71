import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as endOfTurn } from 'node:timers/promises';

import { AppError } from '../../../platform/errors.ts';
import type { Logger } from '../../../platform/process/logger.ts';
import type { ProcessParts } from '../../../platform/runtime/run-process.ts';
import { allDenied, withDenials } from '../../authorization/denied-fields.ts';
import { createAuthorization } from '../../authorization/permitted-operation.ts';
import { createRights, readSecurityRules } from '../../authorization/security-rules.ts';
import type { GatewayFile } from '../../configuration/gateway-file.schema.ts';
import { readCostDirectives } from '../../cost/cost-directives.ts';
import { createOperationCost } from '../../cost/operation-cost.ts';
import type { Authorize, Costs } from '../../federation/execution.ts';
import type { FederatedExecutor } from '../../federation/federation.ts';
import { refusal } from '../../limits/refusal.ts';
import {
  readManifest,
  createPersistedOperations,
  type PersistedOperations,
} from '../../persisted/persisted-operations.ts';

/**
 * What callers may see of a supergraph with security directives; undefined for one without. Throws NOT_CONFIGURED where it has
 * some and nothing says who callers are, or who has one of its policies.
 */
export function authorizeBy(supergraphSdl: string, file: GatewayFile = {}): Authorize | undefined {
  const rules = readSecurityRules(supergraphSdl);
  if (rules.isEmpty) return undefined;
  if (file.authentication === undefined)
    throw new AppError(
      'NOT_CONFIGURED',
      'the supergraph has @authenticated, @requiresScopes or @policy: name the issuers of tokens in authentication of --config',
    );
  const unknown = [...rules.policies].filter((name) => file.authentication?.policies?.[name] === undefined);
  if (unknown.length > 0)
    throw new AppError(
      'NOT_CONFIGURED',
      `the supergraph has policies that nobody has: say in authentication.policies of --config who has ${unknown.join(', ')}`,
    );
  const authorization = createAuthorization(rules);
  const findRights = createRights(file.authentication);
  return ({ operationName, context }, document, schema) => {
    const permitted = authorization.permit({ schema, document, operationName }, findRights(context.caller));
    if (permitted === null) return null;
    const { denied } = permitted;
    return {
      document: permitted.document,
      refused: permitted.isRefused ? allDenied(denied) : undefined,
      complete: (result) => withDenials(result, denied),
    };
  };
}

/** Counts what operations over a supergraph cost; undefined where the configuration says nothing of it. */
export function costsBy(supergraphSdl: string, { cost }: GatewayFile, logger: Logger): Costs | undefined {
  if (cost === undefined) return undefined;
  const { max, mode = 'enforce', listSize = 10, inAnswers = false } = cost;
  const counted = createOperationCost({ directives: readCostDirectives(supergraphSdl), listSize });
  return {
    refuse(operation, variables) {
      const estimated = counted.estimated(operation, variables);
      if (estimated <= max) return null;
      if (mode === 'enforce') return { errors: [refusal('cost', max, estimated)] };
      const name = operation.operation.name?.value;
      logger.warn({ operation: name, estimated, max }, 'an operation costs more than allowed');
      return null;
    },
    complete(operation, variables, result) {
      if (!inAnswers) return result;
      const estimated = counted.estimated(operation, variables);
      const actual = counted.actual(operation, variables, result.data);
      return { ...result, extensions: { ...result.extensions, cost: { estimated, actual } } };
    },
  };
}

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
