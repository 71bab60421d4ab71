import type { Caller } from '../../../../platform/access/caller.ts';
import { AppError, type Problem } from '../../../../platform/errors.ts';
import type { Json } from '../../../../platform/json.ts';
import { isModelFile } from '../../domain/inputs/input-files.ts';
import type { StepInput } from '../../domain/work/work.ts';
import type { ListedModel, GeneratorRegistry } from '../../generators/bindings/binding.ts';
import type { ComfyWorkflow, Graph } from '../comfy-workflows.ts';

/** Graphs as functions: saved under a name, version by version, with typed inputs and outputs; then published. */

/** Types of inputs. */
export const PARAMETER_TYPES = ['text', 'integer', 'number', 'boolean', 'file'] as const;

/** An input of a saved graph, and where in the graph its value goes. */
export interface Parameter {
  readonly name: string;
  readonly type: (typeof PARAMETER_TYPES)[number];
  /** `<node id>.<input name>`, one or several. */
  readonly at: readonly string[];
  readonly required: boolean;
  /** The value when none is sent. */
  readonly default?: Json | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly multipleOf?: number | undefined;
  /** The only values it takes. */
  readonly values?: readonly string[] | undefined;
  readonly description: string;
}

/** What a saved graph makes, and which node saves it. */
export interface WorkflowOutput {
  readonly name: string;
  readonly node: string;
  /** image, video, audio, text or file. */
  readonly type: string;
}

/** One version. It never changes. */
export interface WorkflowVersion {
  readonly number: number;
  readonly graph: Graph;
  readonly inputs: readonly Parameter[];
  readonly outputs: readonly WorkflowOutput[];
  readonly createdAt: Date;
}

/** A saved graph, as far as a caller may see it. */
export interface SavedWorkflow {
  readonly name: string;
  readonly owner: string;
  readonly description: string;
  /** image, video, audio or text: of its first output. */
  readonly category: string;
  readonly published: number | null;
  /** What `rollBack` publishes again. */
  readonly previous: number | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Newest first: all of one's own, of others the published one. */
  readonly versions: readonly WorkflowVersion[];
  /** Whether the caller may change it, and so sees its graphs. */
  readonly isMine: boolean;
}

/** What is saved as a version; without inputs or outputs they are those that `propose` finds. */
export interface WorkflowDraft {
  readonly name: string;
  readonly graph: unknown;
  readonly inputs?: readonly Sent<Parameter>[] | null | undefined;
  readonly outputs?: readonly Sent<WorkflowOutput>[] | null | undefined;
  readonly description?: string | null | undefined;
}

/** As callers send it. */
export type Sent<Shape> = { readonly [Name in keyof Shape]?: Shape[Name] | null | undefined };

/** What a graph offers as inputs and outputs. */
export interface Proposal {
  readonly inputs: readonly Parameter[];
  readonly outputs: readonly WorkflowOutput[];
}

/** A saved version that is to be run. */
export interface RunnableWorkflow extends ComfyWorkflow {
  readonly version: number;
  /** Nodes whose outputs are results. */
  readonly outputs: readonly string[];
}

/** Saved graphs and their rules. Implemented by createSavedWorkflows (service.ts). */
export interface SavedWorkflows {
  /** What a graph offers. BAD_USER_INPUT for what is no graph. */
  propose(graph: unknown): Proposal;
  /** Adds a version; the name is its first saver's. CONFLICT for a name of somebody else, BAD_USER_INPUT naming what is wrong. */
  save(caller: Caller, draft: WorkflowDraft): Promise<SavedWorkflow>;
  /** Has everybody run this version. NOT_FOUND for those of others. */
  publish(caller: Caller, name: string, version: number): Promise<SavedWorkflow>;
  /** Publishes again what was published before. BAD_USER_INPUT where there is none. */
  rollBack(caller: Caller, name: string): Promise<SavedWorkflow>;
  /** Has nobody but its owner run it any more. */
  withdraw(caller: Caller, name: string): Promise<SavedWorkflow>;
  /** Removes every version; the name is free again. Answers what it was. */
  remove(caller: Caller, name: string): Promise<SavedWorkflow>;
  /** One that the caller may see: their own, or a published one; null: there is none. */
  find(caller: Caller, name: string): Promise<SavedWorkflow | null>;
  /** The caller's own and the published ones, by name, after one. */
  list(
    caller: Caller,
    page: { readonly first: number; readonly after: string },
  ): Promise<readonly SavedWorkflow[]>;
  /**
   * What is run: the published version, or one of one's own. Null: there is none of this name, or it is not published; NOT_FOUND
   * for a version that the caller may not run.
   */
  runnable(caller: Caller, name: string, version: number | null): Promise<RunnableWorkflow | null>;
  /** The published ones as bundled workflows are listed. */
  published(): Promise<readonly ComfyWorkflow[]>;
  /** The published ones as models of their generator; none where there is no machine. */
  models(): Promise<readonly ListedModel[]>;
}

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
