import { AppError } from '../../../platform/errors.ts';
import { allDenied, withDenials } from '../../authorization/denied-fields.ts';
import { createAuthorization } from '../../authorization/permitted-operation.ts';
import { createRights } from '../../authorization/rights.ts';
import { securityRulesOf } from '../../authorization/security-rules.ts';
import type { GatewayFile } from '../../configuration/gateway-file.schema.ts';
import type { Authorize } from '../../federation/execution.ts';

/**
 * What callers may see of a supergraph with security directives; undefined for one without. Throws NOT_CONFIGURED where it has
 * some and nothing says who callers are, or who has one of its policies.
 */
export function authorizeBy(supergraphSdl: string, file: GatewayFile = {}): Authorize | undefined {
  const rules = securityRulesOf(supergraphSdl);
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
  const rightsOf = createRights(file.authentication);
  return ({ operationName, context }, document, schema) => {
    const permitted = authorization.permit({ schema, document, operationName }, rightsOf(context.caller));
    if (permitted === null) return null;
    const { denied } = permitted;
    return {
      document: permitted.document,
      refused: permitted.isRefused ? allDenied(denied) : undefined,
      complete: (result) => withDenials(result, denied),
    };
  };
}
