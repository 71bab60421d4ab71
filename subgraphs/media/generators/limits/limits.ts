import { AppError, type Problem } from '../../../../platform/errors.ts';
import { hasOption, isVendorOption } from '../../domain/inputs/vendor-options/check.ts';
import { NOT_TAKEN } from '../../domain/inputs/vendor-options/schema.ts';
import { findProblems, type StepInput } from '../../domain/work/work.ts';
import { inOrderFor } from '../bindings/batched.ts';
import type { Binding, CatalogModel, GeneratorRegistry } from '../bindings/binding.ts';
import { listFallbacks, serves } from '../bindings/registry.ts';

/** Checks work against the limits of the catalog, before anything is written or paid for. Pure. */

/** Most models that a refusal names. */
const MAX_NAMED = 8;

/**
 * Throws BAD_USER_INPUT with every problem of the work, the first one's field being the error's; where another model
 * would take the same request, it is named. NOT_CONFIGURED and BAD_USER_INPUT of `bindingsFor` come first.
 */
export function checkWork(work: StepInput, registry: GeneratorRegistry): void {
  refuseProblems(stepProblems(work, registry));
}

/** Throws BAD_USER_INPUT with all of the problems, the first one's field being the error's; nothing when there is none. */
export function refuseProblems(problems: readonly Problem[]): void {
  const [first] = problems;
  if (first !== undefined) {
    throw new AppError('BAD_USER_INPUT', `${first.field}: ${first.message}`, {
      field: first.field,
      problems,
    });
  }
}

/** The bindings that take this work, in the order of fall-back, real ones or those of the sandbox; none when its generator has no such binding (any more). */
export function bindingsTaking(registry: GeneratorRegistry, input: StepInput): readonly Binding[] {
  const taking = registry
    .all()
    .filter(
      (binding) =>
        binding.generator === input.generator &&
        serves(binding, input.kind, input.model) &&
        problemsAt(binding, input).length === 0,
    );
  return inOrderFor(input, listFallbacks(taking));
}

/**
 * Whether work that waits at the place of a binding is for it: another binding may have had the place before. Work that no binding
 * takes any more, as limits have changed since it was accepted, is done as long as its kind and model are served.
 */
export function takesWaiting(registry: GeneratorRegistry, binding: Binding, input: StepInput): boolean {
  const taking = bindingsTaking(registry, input);
  if (taking.length > 0) return taking.some(({ name }) => name === binding.name);
  return serves(binding, input.kind, input.model);
}

/** What the binding's model, or its wire, does not take of the work. */
function problemsAt(binding: Binding, input: StepInput): readonly Problem[] {
  const { provider, connection } = binding;
  return [
    ...findProblems(input, modelFor(binding, input)),
    ...(provider.inputProblems?.(input, connection) ?? []),
  ];
}

/** The first of these bindings whose upstream may be sent a start, else the one that may be first. */
export function firstUsable(bindings: readonly Binding[]): Binding | undefined {
  const waits = bindings.map(({ breaker, isPaused }) =>
    isPaused?.() === true ? Infinity : (breaker?.waitMs() ?? 0),
  );
  return bindings[waits.indexOf(Math.min(...waits))];
}

/** Whether a binding takes new work: its upstream is not away, and nobody has paused it. */
export function isUsable({ breaker, isPaused }: Binding): boolean {
  return (breaker?.pauseMs() ?? 0) === 0 && isPaused?.() !== true;
}

/** The model of a binding that work runs on: the one it names, else the binding's first for its kind that has not ended. */
export function modelFor(binding: Binding, { kind, model }: StepInput): CatalogModel | undefined {
  const able = binding.models?.filter(({ kinds }) => kinds.includes(kind)) ?? [];
  if (model !== undefined) return able.find(({ id }) => id === model);
  return able.find(({ isRetired, fetchedAt }) => fetchedAt === undefined && !isRetired()) ?? able[0];
}

/** What no binding of its generator takes of the work; none when one takes it all. NOT_CONFIGURED and BAD_USER_INPUT of `bindingsFor`. */
export function stepProblems(work: StepInput, registry: GeneratorRegistry): readonly Problem[] {
  const bindings = registry.bindingsFor(work.generator, work.kind, work.model);
  if (bindings.length === 0 || bindingsTaking(registry, work).length > 0) return [];
  const problems = nearestProblems(work, bindings);
  // A model that ignores the field at fault would not do what was requested.
  const others = registry
    .models({})
    .filter(
      ({ kinds, inputs }) =>
        kinds.includes(work.kind) &&
        problems.every(({ field }) => isVendorOption(field) || inputs.includes(field)),
    )
    .filter(({ generator, id }) => {
      const elsewhere = { ...work, generator, model: id } as StepInput;
      return bindingsTaking(registry, elsewhere).length > 0;
    });
  return problems.map(({ field, message }) => {
    if (others.length > 0)
      return { field, message: `${message}; models that take this request: ${formatNames(others)}` };
    const having = registry
      .models({})
      .filter(({ kinds, options }) => kinds.includes(work.kind) && hasOption(options, field, work.kind));
    const known =
      having.length === 0 || message.startsWith('must be')
        ? ''
        : `; models that have it: ${formatNames(having)}`;
    return { field, message: `${message}${known}` };
  });
}

/** Models by their ids, each with its generators; the first ones. */
function formatNames(models: readonly CatalogModel[]): string {
  const names = [...Map.groupBy(models, ({ id }) => id)].map(
    ([id, same]) => `${id} (${same.map(({ generator }) => generator).join(', ')})`,
  );
  return `${names.slice(0, MAX_NAMED).join(', ')}${names.length > MAX_NAMED ? ', ...' : ''}`;
}

/**
 * What keeps the bindings from the work, of those that come nearest to taking it. Where their models differ, each limit
 * names the model that it is of.
 */
function nearestProblems(work: StepInput, bindings: readonly Binding[]): readonly Problem[] {
  const byModel = new Map(bindings.map((binding) => [modelFor(binding, work)?.id ?? binding.name, binding]));
  const tried = [...byModel].map(([name, binding]) => ({ name, problems: problemsAt(binding, work) }));
  const fewest = Math.min(...tried.map(({ problems }) => problems.length));
  const nearest = tried.filter(({ problems }) => problems.length === fewest);
  const found = nearest.flatMap(({ name, problems }) => problems.map((problem) => ({ ...problem, name })));
  return [...Map.groupBy(found, ({ field }) => field)].map(([field, all]) => {
    // A model that does not take the field at all has no values to tell.
    const telling = all.filter(({ message }) => message !== NOT_TAKEN);
    const byMessage = Map.groupBy(telling.length > 0 ? telling : all, ({ message }) => message);
    const [[message, those] = ['', []]] = byMessage;
    if (byMessage.size === 1 && those.length === tried.length) return { field, message };
    const limits = [...byMessage].map(
      ([text, same]) => `${text} (${same.map(({ name }) => name).join(', ')})`,
    );
    return { field, message: limits.join('; ') };
  });
}
