import { comfyWorkflows, publicInputs, type ComfyWorkflow } from '../comfy-workflows/comfy-workflows.ts';
import { builder } from './builder.ts';
import { startMutation } from './start-mutation.ts';

/** A ComfyUI graph to run. */
export const ComfyWorkflowInput = builder.inputType('ComfyWorkflowInput', {
  description: 'A ComfyUI graph to run: exactly one of workflow, workflowName and model.',
  fields: (t) => ({
    workflow: t.field({
      type: 'JSON',
      description: 'A whole graph in API format: node id -> { class_type, inputs }.',
    }),
    workflowName: t.id({
      description: 'Name of one of `comfyWorkflows`, or of a workflow that the caller has saved.',
    }),
    model: t.string({
      description: 'The same as a model of the catalog: `workflow/<name>` of a saved workflow.',
    }),
    version: t.int({
      description:
        'The version of a saved workflow; absent means the published one. Those that are not published are for their owner, to try them out.',
    }),
    inputs: t.field({
      type: 'JSON',
      description:
        'Values by name for a named workflow, by "<node id>.<input name>" for a whole graph. A file is its address or its Media id, { "url": ... } or { "fileId": ... }.',
    }),
    options: t.field({
      type: 'JSON',
      description: 'The same as `inputs`, as other kinds of work call what a model takes besides.',
    }),
    node: t.string({ description: 'A machine of the pool, as `runningNode` names it; absent means any.' }),
  }),
});

const ComfyWorkflowRef = builder.objectRef<ComfyWorkflow>('ComfyWorkflow').implement({
  description: 'A ComfyUI graph that can be run by its name.',
  fields: (t) => ({
    name: t.exposeID('name', { description: 'What `workflowName` takes.' }),
    inputs: t.field({
      type: 'JSON',
      description: 'Its inputs by name: { type, required, default, description, ... }.',
      resolve: publicInputs,
    }),
    category: t.exposeString('category', { description: 'What it makes: image, video, audio or text.' }),
  }),
});

builder.queryField('comfyWorkflows', (t) =>
  t.field({
    type: [ComfyWorkflowRef],
    description:
      'The ComfyUI graphs that runComfyWorkflow takes by name: those that come with Kiln, then the published ones.',
    rule: 'public',
    resolve: async (_, __, { services }) => [
      ...comfyWorkflows,
      ...(await services.savedWorkflows.published()),
    ],
  }),
);

startMutation('runComfyWorkflow', ComfyWorkflowInput, {
  description:
    'Starts running a ComfyUI graph: bundled, saved or sent along. NOT_INSTALLED names the node classes and model files that no machine has; nothing is started then.',
  inputDescription: 'The graph and its inputs.',
});
