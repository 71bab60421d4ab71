import { AppError, badInput } from '../../../platform/errors.ts';
import { callersError } from '../domain/callers-error.ts';
import { UpstreamError } from '../domain/failure.ts';
import type { Binding, GeneratorRegistry } from '../generators/bindings/binding.ts';
import type { Provider } from '../providers/contract/provider.ts';

/**
 * Asking a generator's providers something at once, without a task: which bindings can be asked, fall-back in their
 * order, and the provider's errors in Kiln's words.
 */

/** What only some providers can be asked. */
export type Capability = 'voices' | 'upload' | 'nodes';

/** A binding whose provider has the capability for sure. */
export interface CapableBinding<Name extends Capability> extends Binding {
  readonly provider: Provider & { readonly [Key in Name]: NonNullable<Provider[Key]> };
}

/** The generator's bindings that can be asked, in order. BAD_USER_INPUT naming those generators that can, or NOT_CONFIGURED. */
export function bindingsWith<Name extends Capability>(
  registry: GeneratorRegistry,
  generator: string,
  capability: Name,
): readonly CapableBinding<Name>[] {
  const capable = registry.all().filter((binding) => canBeAsked(binding, capability));
  const own = capable.filter((binding) => binding.generator === generator);
  if (own.length > 0) return own;
  // A generator that exists elsewhere or not at all is refused in the registry's own words.
  if (!registry.generators().includes(generator)) registry.bindingsFor(generator, capability.toUpperCase());
  const known = [...new Set(capable.map((binding) => binding.generator))].join(', ') || 'none';
  throw badInput(
    'generator',
    `generator "${generator}" has no ${WORDS[capability]}; those that have: ${known}`,
  );
}

const WORDS: Readonly<Record<Capability, string>> = {
  voices: 'voices',
  upload: 'storage for uploads',
  nodes: 'pool of machines',
};

function canBeAsked<Name extends Capability>(
  binding: Binding,
  capability: Name,
): binding is CapableBinding<Name> {
  return binding.provider[capability] !== undefined;
}

/** The first answer, in the order of the bindings; the next is asked after a failure that may pass. */
export async function firstAnswer<Asked extends Binding, Answer>(
  bindings: readonly Asked[],
  ask: (binding: Asked) => Promise<Answer>,
): Promise<Answer> {
  let failure: unknown = new AppError('UNAVAILABLE', 'nobody could be asked');
  for (const binding of bindings) {
    try {
      return await ask(binding);
    } catch (thrown) {
      failure = thrown;
      if (!(thrown instanceof UpstreamError) || !thrown.retryable) break;
    }
  }
  throw failure instanceof UpstreamError ? callersError(failure, failure) : failure;
}
