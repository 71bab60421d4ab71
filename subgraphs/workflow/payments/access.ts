import { mayChange, mayRead, type Caller } from '../../../platform/access/caller.ts';
import type { Payment } from '../domain/payment.ts';

/** The rule of executions: its owner, and the user it was bought for, unless an anonymous buyer named that user. Pure. */
export function mayReadPayment(caller: Caller, payment: Payment): boolean {
  return mayRead(caller, payment.owner) || isBoughtFor(caller, payment);
}

/** Who may end its checkout: the same, without other service keys. Pure. */
export function mayEndPayment(caller: Caller, payment: Payment): boolean {
  return mayChange(caller, payment.owner) || isBoughtFor(caller, payment);
}

function isBoughtFor({ kind, id }: Caller, { owner, userId }: Payment): boolean {
  return kind === 'user' && userId === id && owner !== 'anon';
}
