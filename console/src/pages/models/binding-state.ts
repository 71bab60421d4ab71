import type { BindingPartsFragment } from '../../api/documents/operations.ts';

/** What is to be said of a binding first. */
export type BindingState = 'away' | 'asked' | 'paused' | 'sandbox' | 'healthy';

/** Away: left alone until the next call; asked: that call is due or under way. */
export function stateOf({ breaker, paused, sandbox }: BindingPartsFragment, now = Date.now()): BindingState {
  if (breaker?.open === true) {
    return breaker.until !== null && Date.parse(breaker.until) > now ? 'away' : 'asked';
  }
  if (paused !== null) return 'paused';
  return sandbox ? 'sandbox' : 'healthy';
}
