import { comfyWorkflows, publicInputs, type ComfyWorkflow } from '../comfy-workflows/comfy-workflows.ts';
import { builder } from './builder.ts';
import { startMutation } from './start-mutation.ts';

/** A ComfyUI graph to run. */
export const ComfyWorkflowInput = builder.inputType('ComfyWorkflowInput', {
  description: 'A ComfyUI graph to run: exactly one of workflow and workflowName.',
  fields: (t) => ({
    workflow: t.field({
      type: 'JSON',
      description: 'A whole graph in API format: node id -> { class_type, inputs }.',
    }),
    workflowName: t.id({ description: 'Name of one of `comfyWorkflows`.' }),
    inputs: t.field({
      type: 'JSON',
      description:
        'Values by name for a named workflow, by "<node id>.<input name>" for a whole graph. A file is its address or its Media id, { "url": ... } or { "fileId": ... }.',
    }),
    node: t.string({ description: 'A machine of the pool, as `runningNode` names it; absent means any.' }),
  }),
});

const ComfyWorkflowRef = builder.objectRef<ComfyWorkflow>('ComfyWorkflow').implement({
  description: 'A ComfyUI graph that comes with Kiln.',
  fields: (t) => ({
    name: t.exposeID('name', { description: 'What `workflowName` takes.' }),
    inputs: t.field({
      type: 'JSON',
      description: 'Its inputs by name: { type, required, default, description, ... }.',
      resolve: publicInputs,
    }),
    category: t.exposeString('category', { description: 'What it makes: image or video.' }),
  }),
});

builder.queryField('comfyWorkflows', (t) =>
  t.field({
    type: [ComfyWorkflowRef],
    description: 'The ComfyUI graphs that runComfyWorkflow takes by name.',
    rule: 'public',
    resolve: () => [...comfyWorkflows],
  }),
);

startMutation('runComfyWorkflow', ComfyWorkflowInput, {
  description: 'Starts running a ComfyUI graph, bundled or sent along.',
  inputDescription: 'The graph and its inputs.',
});
