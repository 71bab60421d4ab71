import type { Caller } from '../../../platform/access/caller.ts';
import type { AuthMode } from '../../../platform/access/policy.ts';
import { AppError } from '../../../platform/errors.ts';

/**
 * What strangers do not see of things without an owner, whose ids are listed to whoever names their user: in compat
 * whoever knows a user's name may read what the documents name, and nothing that opens or changes more.
 */

interface Listed {
  readonly id: string;
  readonly owner: string;
}

/** Who asks, and what of it they have proved to be theirs. */
interface RedactionContext {
  readonly caller: Caller;
  readonly authMode: AuthMode;
  readonly proved: ReadonlySet<string>;
}

/** Whether this caller sees no more than what the documents name. */
export function isRedacted({ id, owner }: Listed, { caller, authMode, proved }: RedactionContext): boolean {
  return owner === 'anon' && isStranger(caller, authMode) && !proved.has(id);
}

/** Whether a caller is nobody whom things without an owner belong to. */
export function isStranger({ kind, scopes }: Caller, authMode: AuthMode): boolean {
  if (authMode === 'open' || scopes.includes('admin')) return false;
  return kind === 'anonymous' || kind === 'user';
}

/** The refusal of a field that can't be null. */
export function withheld(field: string): AppError {
  return new AppError('FORBIDDEN', `${field} is for whoever started it: ask with its task id or session`, {
    field,
  });
}
