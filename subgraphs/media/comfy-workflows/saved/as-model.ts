import type { OptionSchema, OptionsSchema } from '../../domain/inputs/vendor-options/schema.ts';
import type { ListedModel } from '../../generators/bindings/binding.ts';
import type { ComfyWorkflow } from '../comfy-workflows.ts';
import { modelName } from './rules.ts';
import type { WorkflowRow } from './store.ts';
import type { RunnableWorkflow, WorkflowVersion } from './workflow.ts';

/** Saved graphs as what is run, and as models of the catalog. Pure. */

/** A version as bundled workflows are. */
export function toRunnableWorkflow(
  { name, category }: Pick<WorkflowRow, 'name' | 'category'>,
  { number, graph, inputs, outputs }: WorkflowVersion,
): RunnableWorkflow {
  return {
    name,
    category,
    version: number,
    workflow: graph,
    inputs: Object.fromEntries(
      inputs.map(({ name: input, ...declared }) => [input, declared]),
    ) as ComfyWorkflow['inputs'],
    outputs: outputs.map(({ node }) => node),
  };
}

/** A published graph as a model; `base` is the model of its generator that takes any graph. */
export function toListedModel(
  base: ListedModel,
  { name, description }: Pick<WorkflowRow, 'name' | 'description'>,
  { inputs }: ComfyWorkflow,
): ListedModel {
  return {
    ...base,
    id: modelName(name),
    name: description.split('\n', 1)[0]?.slice(0, 80) || name,
    inputs: ['model', 'inputs', 'node'],
    needs: [],
    options: buildOptions(inputs),
    isDefault: false,
    sources: [],
  };
}

/** JSON Schema of what a graph takes. */
function buildOptions(inputs: ComfyWorkflow['inputs']): OptionsSchema {
  const properties = Object.entries(inputs).map(([name, input]) => {
    const { type, values, description, minimum, maximum, multipleOf, default: value } = input;
    const isText = type === 'text' || type === 'file';
    return [
      name,
      withoutUndefined({
        type: isText ? 'string' : type,
        enum: values,
        default: value,
        minimum,
        maximum,
        multipleOf,
        description,
      }),
    ] as const;
  });
  const required = Object.keys(inputs).filter((name) => inputs[name]?.required === true);
  return { type: 'object', properties: Object.fromEntries(properties), required };
}

function withoutUndefined(shape: OptionSchema): OptionSchema {
  return Object.fromEntries(Object.entries(shape).filter(([, value]) => value !== undefined));
}
