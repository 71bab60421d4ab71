import { mayRead, type Caller } from '../../../platform/caller.ts';
import type { Payment } from './payment.ts';

/** As for executions: its owner, and the user for whom it was bought, unless an anonymous buyer merely claimed so. Pure. */
export function mayReadPayment(caller: Caller, { owner, userId }: Payment): boolean {
  if (mayRead(caller, owner)) return true;
  return caller.kind === 'user' && userId === caller.id && owner !== 'anon';
}
