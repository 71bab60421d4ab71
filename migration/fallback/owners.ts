import type { AuthMode } from '../../platform/access/policy.ts';
import type { GraphqlExecutor, RequestContext } from '../../platform/graphql/operations/executor.ts';
import type { JsonObject } from '../../platform/json.ts';
import { Viewer } from '../../rest-compat/documents/workflow/sign-in.ts';
import { runDocument } from '../../rest-compat/replies/results.ts';

/** Who may read what an old service has of a user: by the rules of Kiln's own payments and lists. */

interface Access {
  readonly executor: GraphqlExecutor;
  readonly authMode: AuthMode;
}

/** Whether a caller may read what is a user's. `strict` asks for the user also where names are believed (compat). */
export async function mayReadOwned(
  { executor, authMode }: Access,
  context: RequestContext,
  userId: string,
  { strict = false }: { readonly strict?: boolean } = {},
): Promise<boolean> {
  const { caller } = context;
  if (authMode === 'open' || (authMode === 'compat' && !strict)) return true;
  if (caller.kind === 'key' || caller.scopes.includes('admin') || caller.id === userId) return true;
  if (caller.kind !== 'user') return false;
  const { viewer } = await runDocument({ executor, context }, Viewer, {});
  return viewer?.subject === userId;
}

/** A payment without what would open its checkout. */
export function withoutSession(body: JsonObject): JsonObject {
  const data = body['data'];
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return body;
  return { ...body, data: { ...(data as JsonObject), ppSessionId: null } };
}
