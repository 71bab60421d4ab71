import type { Binding } from './binding.ts';
import { fingerprint, upstreamOf } from './upstream.ts';

/** What a name is made of. */
type Named = Pick<Binding, 'generator' | 'provider' | 'connection' | 'sandbox' | 'account'>;

/** Most characters of a name that tell what the binding does. */
const MAX_WORDS = 40;

/**
 * The name of a binding: the one that it was given, else its provider, what it does (`words`, such as its model) and a fingerprint
 * of its upstream and account. Never its position: whatever goes by the name stays with the provider when the list changes.
 */
export function nameOf(binding: Named, words = ''): string {
  const { generator, provider, sandbox, account } = binding;
  if (account !== undefined) return `${generator}:${account}`;
  const where = sandbox ? 'sandbox' : fingerprint(`${upstreamOf(binding)}\0${words}`).slice(0, 8);
  const told = words.toLowerCase().replaceAll(/[^\w.-]+/g, '-');
  return `${generator}:${[provider.name, told.slice(0, MAX_WORDS), where].filter(Boolean).join('-')}`;
}

/** The same bindings; of those that would have one name, which are alike in all that names are made of, later ones get a number. */
export function withOwnNames(bindings: readonly Binding[]): readonly Binding[] {
  const taken = new Map<string, number>();
  return bindings.map((binding) => {
    const count = (taken.get(binding.name) ?? 0) + 1;
    taken.set(binding.name, count);
    return count === 1 ? binding : { ...binding, name: `${binding.name}-${count}` };
  });
}
