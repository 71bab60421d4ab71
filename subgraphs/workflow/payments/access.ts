import { mayChange, mayRead, type Caller } from '../../../platform/access/caller.ts';
import type { Payment } from '../domain/payment.ts';

/** As for executions: its owner, and the user for whom it was bought, unless an anonymous buyer merely claimed so. Pure. */
export function mayReadPayment(caller: Caller, payment: Payment): boolean {
  return mayRead(caller, payment.owner) || isBoughtFor(caller, payment);
}

/** Who may end its checkout: the same, without service keys of others. Pure. */
export function mayEndPayment(caller: Caller, payment: Payment): boolean {
  return mayChange(caller, payment.owner) || isBoughtFor(caller, payment);
}

function isBoughtFor({ kind, id }: Caller, { owner, userId }: Payment): boolean {
  return kind === 'user' && userId === id && owner !== 'anon';
}
