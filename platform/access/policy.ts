import { AppError } from '../errors.ts';
import type { Caller, KeyScope } from './caller.ts';

/**
 * Authorization rules, checked before any object is read. Every root field of both schemas has a rule (a Pothos option
 * that the types require); a REST route inherits the rule of its document and may only tighten it. docs/policy.md lists
 * them all.
 */
export type Rule =
  /** Everybody, in every mode. */
  | 'public'
  /** Everybody: the request is self-authenticating (a token, a code, a signature), which the service checks. */
  | 'proof'
  /** Everybody in open and compat mode, known callers in required mode. */
  | 'anyone'
  /** As `anyone`; the service then checks that the object, or the named user (`enforceSelf`), is the caller's own. */
  | 'owner'
  /** Starts paid work of the media service: as `anyone`. */
  | 'spend'
  /** Starts a paid template without a payment: anonymous only in open mode. */
  | 'unpaid'
  /** Changes what all callers see: anonymous only in open mode, else scope `admin`. */
  | 'admin'
  /** Issues credentials, which outlive the mode they were made in: scope `admin`, also in open mode. */
  | 'operator'
  /** Kiln's own processes only. */
  | 'service';

/** The setting REST_AUTH; it holds for GraphQL as well (docs/policy.md). */
export type AuthMode = 'open' | 'compat' | 'required';

/** The setting UNPAID_EXECUTIONS: who runs templates that cost something without paying. */
export type UnpaidExecutions = 'open' | 'keys' | 'nobody';

/** What is asked of a template before it runs unpaid; a price of its own replaces that of its credits. */
interface PricedTemplate {
  readonly code: string;
  readonly creditCost: number;
  readonly price: number | null;
}

/** Throws FORBIDDEN when this caller has to buy a run of a template; free ones run for everybody the rule lets in. */
export function enforcePaid(
  caller: Caller,
  { code, creditCost, price }: PricedTemplate,
  unpaid: UnpaidExecutions,
): void {
  if ((price ?? creditCost) === 0 || mayRunUnpaid(caller, unpaid)) return;
  throw new AppError('FORBIDDEN', `template ${code} has to be bought: open a checkout`, { field: 'code' });
}

/** Whether UNPAID_EXECUTIONS lets this caller run templates that cost something without paying. */
export function mayRunUnpaid({ kind, scopes }: Caller, unpaid: UnpaidExecutions): boolean {
  const isTrusted = kind === 'key' || scopes.includes('admin');
  return kind === 'internal' || unpaid === 'open' || (unpaid === 'keys' && isTrusted);
}

/** `sign-in`: a credential may help; `forbid`: this caller's does not. */
export type Verdict = 'allow' | 'sign-in' | 'forbid';

/** What a rule is asked about, for the scopes of service keys. */
export interface RuledOperation {
  readonly rule: Rule;
  readonly kind: 'query' | 'mutation' | 'subscription';
  /** The scope it needs, where it is not the usual one. */
  readonly scope?: KeyScope | undefined;
}

/** The scope that a service key needs: null where a rule asks for no caller. */
export function findNeededScope({ rule, kind, scope }: RuledOperation): KeyScope | null {
  if (scope !== undefined) return scope;
  if (rule === 'admin' || rule === 'operator') return 'admin';
  if (rule === 'spend' || rule === 'unpaid') return 'start';
  if (rule === 'public' || rule === 'proof' || rule === 'service') return null;
  return kind === 'mutation' ? 'manage' : 'read';
}

/** Whether a service key has a scope; `admin` has all. */
export function hasScope({ scopes }: Pick<Caller, 'scopes'>, needed: KeyScope): boolean {
  return scopes.includes(needed) || scopes.includes('admin');
}

/** Throws FORBIDDEN for a service key without the scope that an operation needs; `admin` has all. */
export function enforceScope(caller: Caller, needed: KeyScope | null): void {
  if (caller.kind !== 'key' || needed === null || hasScope(caller, needed)) return;
  throw new AppError('FORBIDDEN', `this service key needs the scope ${needed} for that`);
}

/** Throws UNAUTHENTICATED or FORBIDDEN when the rule does not allow this caller. */
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

/** Throws UNAUTHENTICATED or FORBIDDEN when the caller may not name this user (our id, `users.findUserId`). */
export function enforceSelf(caller: Caller, userId: string, mode: AuthMode): void {
  refuseUnless(decideSelf(caller, userId, mode), 'users may act for themselves only');
}

/**
 * The pure decision behind `enforceSelf`: users name themselves; admins, service keys and Kiln itself name anybody;
 * callers without a credential name users who have never signed in, and in open mode any user, as a label without
 * rights.
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
