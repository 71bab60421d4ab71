import { mayRead, type Caller } from '../../../platform/access/caller.ts';
import { AppError, badInput } from '../../../platform/errors.ts';
import type { Execution } from '../domain/execution.ts';

/** Who may see an execution, and for whom one may be started. Pure. */

/** The rule of tasks, and also the user it runs for, unless an anonymous caller named that user. */
export function mayReadExecution(caller: Caller, { owner, userId }: Execution): boolean {
  if (mayRead(caller, owner)) return true;
  return caller.kind === 'user' && userId === caller.id && owner !== 'anon';
}

/** The user that an execution runs for, and the owner of its task. */
export interface Beneficiary {
  readonly userId: string | null;
  readonly taskOwner: string;
}

/**
 * Users act for themselves; admins, service keys and Kiln itself for any user, who then owns the task; a user named by an
 * anonymous caller is only a label.
 */
export function findBeneficiary(caller: Caller, onBehalfOf: string | null): Beneficiary {
  if (onBehalfOf === null) {
    return { userId: caller.kind === 'user' ? caller.id : null, taskOwner: caller.id };
  }
  if (!/^[^\s\0]{1,128}$/.test(onBehalfOf)) {
    throw badInput('onBehalfOf', 'onBehalfOf must be a user id of 1 to 128 characters without spaces');
  }
  if (caller.kind === 'anonymous') return { userId: onBehalfOf, taskOwner: caller.id };
  if (caller.id === onBehalfOf) return { userId: onBehalfOf, taskOwner: caller.id };
  if (caller.kind === 'user' && !caller.scopes.includes('admin')) {
    throw new AppError('FORBIDDEN', 'users start executions for themselves only', { field: 'onBehalfOf' });
  }
  // Only a user's own id is an owner: a text such as "anon" must not make the task everybody's.
  return { userId: onBehalfOf, taskOwner: onBehalfOf.startsWith('usr_') ? onBehalfOf : caller.id };
}
