import type { Caller } from './caller.ts';
import { AppError } from './errors.ts';

/**
 * Who may call what, before any object is looked at. Every root field of both schemas carries a rule (a Pothos option
 * that the types demand); a REST route inherits the rule of its document and may only tighten it.
 */
export type Rule =
  /** Anybody, in every mode. */
  | 'public'
  /** Anybody: the request carries its own proof (a token, a code, a signature), which the service checks. */
  | 'proof'
  /** Anybody in open and compat mode, a known caller in required mode. */
  | 'anyone'
  /** As `anyone`; the service then checks that the thing is the caller's own. */
  | 'owner'
  /** Starts paid work: as `anyone` today; its own word because sign-in tightens it on the workflow service in compat mode. */
  | 'spend'
  /** Changes what everybody sees: anonymous only in open mode, else scope `admin`. */
  | 'admin'
  /** Kiln's own processes only. */
  | 'service';

/** The setting REST_AUTH, which holds for GraphQL the same (spec/decisions.md, "Who may call what"). */
export type AuthMode = 'open' | 'compat' | 'required';

/** Throws UNAUTHENTICATED or FORBIDDEN when the rule does not let this caller in. */
export function enforce(rule: Rule, caller: Caller, mode: AuthMode): void {
  const verdict = decide(rule, caller, mode);
  if (verdict === 'allow') return;
  if (verdict === 'sign-in') {
    throw new AppError(
      'UNAUTHENTICATED',
      'this needs a credential: send Authorization: Bearer with a token or a service key',
    );
  }
  throw new AppError('FORBIDDEN', 'this caller may not do that');
}

/** The pure decision behind `enforce`. */
export function decide(rule: Rule, caller: Caller, mode: AuthMode): 'allow' | 'sign-in' | 'forbid' {
  if (rule === 'public' || rule === 'proof' || caller.kind === 'internal') return 'allow';
  if (rule === 'service') return 'forbid';
  if (rule === 'admin') {
    if (caller.scopes.includes('admin') || mode === 'open') return 'allow';
    return caller.kind === 'anonymous' ? 'sign-in' : 'forbid';
  }
  return caller.kind === 'anonymous' && mode === 'required' ? 'sign-in' : 'allow';
}
