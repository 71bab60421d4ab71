import type { JsonObject } from '../../../../platform/json.ts';
import type { InputRef } from '../inputs/input-files.ts';
import { LONG_SECONDS, type AtGenerator, type RulesOf } from './kind.ts';

/** A ComfyUI graph with its inputs filled in already. */
export interface ComfyWork<File = InputRef> extends AtGenerator {
  readonly kind: 'COMFY_WORKFLOW';
  /** Name of a bundled or saved comfy workflow, when it was one. */
  readonly workflowName?: string;
  /** The version of a saved one. */
  readonly workflowVersion?: number;
  /** The only nodes whose outputs are results, in this order; absent: all. */
  readonly outputs?: readonly string[];
  /** The graph: node id -> { class_type, inputs }. */
  readonly workflow: JsonObject;
  /** Files among the inputs: `<node id>.<input name>` -> file; the provider uploads each and puts its name there. */
  readonly files: Readonly<Record<string, File>>;
  /** A node of the pool that the caller wants. */
  readonly node?: string;
}

/** What holds for it. Whether a graph can run is known to the machine alone. */
export const comfyKinds = {
  COMFY_WORKFLOW: {
    description: 'Whatever a ComfyUI graph makes: files, texts or both.',
    mutation: 'runComfyWorkflow',
    generator: 'comfy',
    category: 'workflow',
    files: { files: { kind: 'any', field: 'inputs', holds: 'names' } },
    namesFiles: true,
    result: {
      name: 'output',
      types: ['image/', 'video/', 'audio/', 'model/'],
      label: 'media',
      needsFile: false,
    },
    timeoutSeconds: LONG_SECONDS,
  },
} as const satisfies RulesOf<ComfyWork>;
