import { AppError, type Problem } from '../../../../platform/errors.ts';
import { isModelFile } from '../../domain/inputs/model-file.ts';
import type { StepInput } from '../../domain/work/work.ts';
import type { GeneratorRegistry } from '../../generators/bindings/binding.ts';
import type { Graph } from '../graph.ts';

/** What a graph needs of a machine, and what no machine has of it. */

/** Milliseconds that machines have to tell what they have; one that does not is taken to have everything. */
const ASK_MS = 5_000;

/** The node classes and model files that a graph names. Pure. */
export function needsOfWorkflow(graph: Graph): { classes: readonly string[]; models: readonly string[] } {
  const nodes = Object.values(graph);
  const models = nodes.flatMap(({ inputs }) => Object.values(inputs).filter(isModelFile));
  return {
    classes: [...new Set(nodes.map(({ class_type: name }) => name))].sort(),
    models: [...new Set(models)].sort(),
  };
}

/** What no machine has of a graph, in words. */
export async function missingForWorkflow(
  registry: Pick<GeneratorRegistry, 'all'>,
  graph: Graph,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const work = { kind: 'COMFY_WORKFLOW', generator: 'comfy', workflow: graph, files: {} } as const;
  return (await findMissing(registry, work, signal)).map(({ message }) => message);
}

/** Throws NOT_INSTALLED naming everything that the binding which lacks least does not have of what work needs. */
export async function refuseNotInstalled(
  registry: Pick<GeneratorRegistry, 'all'>,
  work: StepInput<unknown>,
  signal: AbortSignal,
): Promise<void> {
  const problems = await findMissing(registry, work, signal);
  const [first] = problems;
  if (first === undefined) return;
  const message = problems.map((problem) => problem.message).join('; ');
  throw new AppError('NOT_INSTALLED', message.slice(0, 1_000), { field: first.field, problems });
}

async function findMissing(
  registry: Pick<GeneratorRegistry, 'all'>,
  work: StepInput<unknown>,
  signal: AbortSignal,
): Promise<readonly Problem[]> {
  const asked = registry
    .all()
    .flatMap(({ generator, provider, connection }) =>
      generator === work.generator && provider.missing ? [{ missing: provider.missing, connection }] : [],
    );
  if (asked.length === 0) return [];
  const within = AbortSignal.any([signal, AbortSignal.timeout(ASK_MS)]);
  const answers = await Promise.all(
    asked.map(async ({ missing, connection }) => missing(work, { connection, signal: within })),
  );
  return answers.toSorted((one, other) => one.length - other.length)[0] ?? [];
}
