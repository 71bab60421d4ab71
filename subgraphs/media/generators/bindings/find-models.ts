import { badInput } from '../../../../platform/errors.ts';
import { toCallerError } from '../../domain/caller-error.ts';
import { UpstreamError } from '../../domain/failure.ts';
import type { NamedModel } from '../../providers/contract/provider.ts';
import type { Binding, GeneratorRegistry } from './binding.ts';
import { upstreamOf } from './upstream.ts';

/** A model of a vendor that a generator can be asked for by its name. */
export interface FoundModel extends NamedModel {
  readonly generator: string;
  readonly provider: string;
}

const MAX_WORDS = 100;

/**
 * Searches the names of the vendors whose every model may be used here. A vendor that does not answer has none, unless no other has
 * any: then its error is thrown.
 */
export async function findModels(
  registry: Pick<GeneratorRegistry, 'all'>,
  { words, generator }: { readonly words: string; readonly generator: string | null },
): Promise<readonly FoundModel[]> {
  const asked = words.trim();
  if (asked === '' || asked.length > MAX_WORDS) {
    throw badInput('words', `words must be 1 to ${MAX_WORDS} characters`);
  }
  const able = registry.all().filter((one) => generator === null || one.generator === generator);
  // A generator may have several bindings at one vendor, for pictures and for videos.
  const vendors = new Map(able.map((one) => [`${one.generator} ${upstreamOf(one)}`, one])).values();
  const answers = await Promise.allSettled([...vendors].map(async (one) => foundAt(one, asked)));
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  const failed = answers.find((answer) => answer.status === 'rejected');
  if (found.length > 0 || failed === undefined) return found;
  const { reason } = failed as { reason: unknown };
  throw reason instanceof UpstreamError ? toCallerError(reason, reason) : reason;
}

async function foundAt(
  { generator, provider, findModels: find }: Binding,
  words: string,
): Promise<readonly FoundModel[]> {
  const found = (await find?.(words)) ?? [];
  return found.map((model) => ({ ...model, generator, provider: provider.name }));
}
