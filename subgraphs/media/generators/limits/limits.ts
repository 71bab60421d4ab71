import { AppError, type Problem } from '../../../../platform/errors.ts';
import { problemsOf, type StepInput } from '../../domain/work/work.ts';
import type { Binding, CatalogModel, GeneratorRegistry } from '../bindings/binding.ts';
import { serves } from '../bindings/registry.ts';

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

/** The bindings that take this work, in the order of fall-back; none when its generator has no such binding (any more). */
export function bindingsTaking(registry: GeneratorRegistry, input: StepInput): readonly Binding[] {
  return registry
    .all()
    .filter(
      (binding) =>
        binding.generator === input.generator &&
        serves(binding, input.kind, input.model) &&
        problemsOf(input, modelFor(binding, input)).length === 0,
    );
}

/** The first of these bindings whose upstream may be asked, else the first. */
export function firstUsable(bindings: readonly Binding[]): Binding | undefined {
  return bindings.find(({ breaker }) => (breaker?.pauseMs() ?? 0) === 0) ?? bindings[0];
}

/** The model of a binding that work runs on: the one it names, else the binding's first for its kind. */
export function modelFor(binding: Binding, { kind, model }: StepInput): CatalogModel | undefined {
  return binding.models?.find(
    ({ id, kinds }) => kinds.includes(kind) && (model === undefined || model === id),
  );
}

function stepProblems(work: StepInput, registry: GeneratorRegistry): readonly Problem[] {
  const [first] = registry.bindingsFor(work.generator, work.kind, work.model);
  if (first === undefined || bindingsTaking(registry, work).length > 0) return [];
  const problems = problemsOf(work, modelFor(first, work));
  // A model that ignores the field at fault would not do what was requested.
  const others = registry
    .models({})
    .filter(
      ({ kinds, inputs }) =>
        kinds.includes(work.kind) && problems.every(({ field }) => inputs.includes(field)),
    )
    .filter((model) => problemsOf(work, model).length === 0);
  const names = [...Map.groupBy(others, ({ id }) => id)].map(
    ([id, same]) => `${id} (${same.map(({ generator }) => generator).join(', ')})`,
  );
  if (names.length === 0) return problems;
  const named = `${names.slice(0, MAX_NAMED).join(', ')}${names.length > MAX_NAMED ? ', ...' : ''}`;
  return problems.map(({ field, message }) => ({
    field,
    message: `${message}; models that take this request: ${named}`,
  }));
}
