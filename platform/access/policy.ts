import { AppError } from '../errors.ts';
import type { Caller } from './caller.ts';

/**
 * Who may call what, before any object is looked at. Every root field of both schemas carries a rule (a Pothos option
 * that the types demand); a REST route inherits the rule of its document and may only tighten it. docs/policy.md is the
 * whole table.
 */
export type Rule =
  /** Anybody, in every mode. */
  | 'public'
  /** Anybody: the request carries its own proof (a token, a code, a signature), which the service checks. */
  | 'proof'
  /** Anybody in open and compat mode, a known caller in required mode. */
  | 'anyone'
  /** As `anyone`; the service then checks that the thing, or the user that is named (`enforceSelf`), is the caller's own. */
  | 'owner'
  /** Starts paid work of the media service: as `anyone`. */
  | 'spend'
  /** Starts paid work that was sold, without a payment: anonymous only in open mode. */
  | 'unpaid'
  /** Changes what everybody sees: anonymous only in open mode, else scope `admin`. */
  | 'admin'
  /** Hands out credentials, which outlive the mode they were made in: scope `admin`, in open mode as well. */
  | 'operator'
  /** Kiln's own processes only. */
  | 'service';

/** The setting REST_AUTH, which holds for GraphQL the same (README, "Who may call what"). */
export type AuthMode = 'open' | 'compat' | 'required';

/** `sign-in`: a credential may help; `forbid`: this caller's does not. */
export type Verdict = 'allow' | 'sign-in' | 'forbid';

/** Throws UNAUTHENTICATED or FORBIDDEN when the rule does not let this caller in. */
export function enforce(rule: Rule, caller: Caller, mode: AuthMode): void {
  refuseUnless(decide(rule, caller, mode), 'this caller may not do that');
}

/** The pure decision behind `enforce`. */
export function decide(rule: Rule, caller: Caller, mode: AuthMode): Verdict {
  if (rule === 'public' || rule === 'proof' || caller.kind === 'internal') return 'allow';
  if (rule === 'service') return 'forbid';
  if (rule === 'admin' || rule === 'operator') {
    if (caller.scopes.includes('admin') || (rule === 'admin' && mode === 'open')) return 'allow';
    return caller.kind === 'anonymous' ? 'sign-in' : 'forbid';
  }
  if (caller.kind !== 'anonymous') return 'allow';
  const needsCaller = rule === 'unpaid' ? mode !== 'open' : mode === 'required';
  return needsCaller ? 'sign-in' : 'allow';
}

/** Throws UNAUTHENTICATED or FORBIDDEN when the caller may not name this user (our id, `users.idOf`). */
export function enforceSelf(caller: Caller, userId: string, mode: AuthMode): void {
  refuseUnless(decideSelf(caller, userId, mode), 'users act for themselves only');
}

/**
 * The pure decision behind `enforceSelf`: users name themselves; admins, service keys and Kiln itself anybody; callers
 * without a credential anybody who has never signed in, and in open mode whomever they like, as a label that opens nothing.
 */
export function decideSelf(caller: Caller, userId: string, mode: AuthMode): Verdict {
  if (caller.kind === 'anonymous') {
    return userId.startsWith('usr_') && mode !== 'open' ? 'sign-in' : 'allow';
  }
  const isSelf = caller.kind !== 'user' || caller.id === userId || caller.scopes.includes('admin');
  return isSelf ? 'allow' : 'forbid';
}

function refuseUnless(verdict: Verdict, forbidden: string): void {
  if (verdict === 'allow') return;
  if (verdict === 'forbid') throw new AppError('FORBIDDEN', forbidden);
  throw new AppError(
    'UNAUTHENTICATED',
    'this needs a credential: send Authorization: Bearer with a token or a service key',
  );
}
