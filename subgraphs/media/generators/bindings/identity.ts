import { createHash } from 'node:crypto';

import type { Connection } from '../../providers/contract/provider.ts';
import type { Binding } from './binding.ts';

/** What of a binding says at which upstream, and in whose account, its work is. */
type Upstream = Pick<Binding, 'provider' | 'connection' | 'sandbox' | 'account'>;

const known = new WeakMap<Connection, string>();

/**
 * Where a binding's work is: provider, and a fingerprint of address and account, under which attempts are kept. The account is
 * the name that the binding was given where it has one, so that its key can be replaced, else the credentials. The sandbox is one upstream wherever
 * it listens, and machines of one pool are told apart by their handles. Nothing can be read from it: 64 bits of a hash.
 */
export function identifyUpstream({ provider, connection, sandbox, account: given }: Upstream): string {
  const found = known.get(connection);
  if (found !== undefined) return found;
  const { baseUrl, pathPrefix, nodes, credentials, headers } = connection;
  const address = nodes.length > 0 ? 'pool' : `${baseUrl}${pathPrefix}`;
  const account = given ?? JSON.stringify([sorted(credentials), sorted(headers)]);
  const made = `${provider.name}:${sandbox ? 'sandbox' : fingerprint(`${address}\0${account}`)}`;
  known.set(connection, made);
  return made;
}

/** 64 bits of a hash, in hexadecimal. */
function fingerprint(text: string): string {
  return createHash('sha256').update(`kiln upstream\0${text}`).digest('hex').slice(0, 16);
}

function sorted(members: Readonly<Record<string, unknown>>): readonly (readonly [string, unknown])[] {
  return Object.entries(members).toSorted(([one], [other]) => (one < other ? -1 : 1));
}

/** What a name is made of. */
type Named = Pick<Binding, 'generator' | 'provider' | 'connection' | 'sandbox' | 'account'>;

/** Most characters of a name that tell what the binding does. */
const MAX_WORDS = 40;

/**
 * The name of a binding: the one that it was given, else its provider, what it does (`words`, such as its model) and a fingerprint
 * of its upstream and account. Never its position: whatever goes by the name stays with the provider when the list changes.
 */
export function createBindingName(binding: Named, words = ''): string {
  const { generator, provider, sandbox, account } = binding;
  if (account !== undefined) return `${generator}:${account}`;
  const where = sandbox ? 'sandbox' : fingerprint(`${identifyUpstream(binding)}\0${words}`).slice(0, 8);
  const slug = words.toLowerCase().replaceAll(/[^\w.-]+/g, '-');
  return `${generator}:${[provider.name, slug.slice(0, MAX_WORDS), where].filter(Boolean).join('-')}`;
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
