import { AppError, badInput } from '../../../platform/errors.ts';
import { toCallerError, UpstreamError } from '../domain/failure.ts';
import type { Binding, GeneratorRegistry } from '../generators/bindings/binding.ts';
import { listFallbacks } from '../generators/bindings/registry.ts';
import type { Provider } from '../providers/contract/provider.ts';

/**
 * Calls to a generator's providers without a task: which bindings have the capability, fall-back in their order, and
 * the provider's errors as callers see them.
 */

/** A capability that only some providers have. */
export type Capability = 'voices' | 'upload' | 'nodes';

/** A binding whose provider has the capability. */
export interface CapableBinding<Name extends Capability> extends Binding {
  readonly provider: Provider & { readonly [Key in Name]: NonNullable<Provider[Key]> };
}

/** The generator's bindings with the capability, in order. BAD_USER_INPUT naming the generators that have it, or NOT_CONFIGURED. */
export function bindingsWith<Name extends Capability>(
  registry: GeneratorRegistry,
  generator: string,
  capability: Name,
): readonly CapableBinding<Name>[] {
  const capable = registry.all().filter((binding) => isCapable(binding, capability));
  const own = capable.filter((binding) => binding.generator === generator);
  if (own.length > 0) return listFallbacks(own);
  // The registry itself refuses generators that are unknown or not configured.
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

function isCapable<Name extends Capability>(
  binding: Binding,
  capability: Name,
): binding is CapableBinding<Name> {
  return binding.provider[capability] !== undefined;
}

/** The first answer, in the order of the bindings; the next one is called after a failure that is retryable or of the binding's own settings. */
export async function firstAnswer<Chosen extends Binding, Answer>(
  bindings: readonly Chosen[],
  call: (binding: Chosen) => Promise<Answer>,
): Promise<Answer> {
  let failure: unknown = new AppError('UNAVAILABLE', 'no provider could be called');
  for (const binding of bindings) {
    try {
      return await call(binding);
    } catch (thrown) {
      failure = thrown;
      if (!(thrown instanceof UpstreamError) || (!thrown.retryable && !thrown.ofBinding)) break;
    }
  }
  throw failure instanceof UpstreamError ? toCallerError(failure, failure) : failure;
}
