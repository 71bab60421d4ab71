import { badInput } from '../../../../platform/errors.ts';
import { toCallerError, UpstreamError } from '../../domain/failure.ts';
import type { StepKind } from '../../domain/work/work.ts';
import type { NamedModel } from '../../providers/contract/provider.ts';
import type { Binding, GeneratorRegistry } from './binding.ts';
import { identifyUpstream } from './identity.ts';
import { isAble } from './registry.ts';

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
  // A generator may have several bindings at one vendor, for images and for videos.
  const vendors = new Map(able.map((one) => [`${one.generator} ${identifyUpstream(one)}`, one])).values();
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

/** What is asked for, as callers name it. */
interface RequestedModel {
  readonly generator?: string | null | undefined;
  /** Absent: any. */
  readonly kind?: StepKind;
  readonly model?: string | null | undefined;
}

/**
 * Has the bindings of a generator read about a model that none of them lists, or whose description is old (`again`: in any case).
 * Nothing when it is known, or nobody has it. Throws what their `learnModel` throws.
 */
export async function learnModel(
  registry: Pick<GeneratorRegistry, 'all'>,
  { generator, kind, model }: RequestedModel,
  again = false,
): Promise<void> {
  if (model === undefined || model === null) return;
  const able = registry
    .all()
    .filter(
      (binding) => binding.generator === generator && (kind === undefined || isAble(binding.provider, kind)),
    );
  const listing = able.filter(({ models = [] }) => models.some(({ id }) => id === model));
  for (const binding of listing.length > 0 ? listing : able) await binding.learnModel?.(model, again);
}
