import { PayProviderError } from './pay-provider.ts';

/** Checks that an id is one: the SDK may return any body as an answer. */
export function checkedId(id: unknown, prefix: string): string {
  if (typeof id === 'string' && id !== '' && id.startsWith(prefix)) return id;
  throw new PayProviderError('UNAVAILABLE', 'the payment provider answered something that is no answer');
}
