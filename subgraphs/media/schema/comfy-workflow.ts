import { comfyWorkflows, publicInputs, type ComfyWorkflow } from '../comfy-workflows/comfy-workflows.ts';
import { builder } from './builder.ts';
import { CALLBACK_URL, Task } from './task.ts';

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

builder.mutationField('runComfyWorkflow', (t) =>
  t.field({
    type: Task,
    description: 'Starts running a ComfyUI graph, bundled or sent along.',
    rule: 'spend',
    args: {
      input: t.arg({ type: ComfyWorkflowInput, required: true, description: 'The graph and its inputs.' }),
      callbackUrl: t.arg.string({ description: CALLBACK_URL }),
      idempotencyKey: t.arg.string({ description: 'The same key and input again answer the same task.' }),
    },
    resolve: (_, { input, idempotencyKey = null, callbackUrl }, { caller, services, signal }) =>
      services.submissions.runComfyWorkflow(caller, input, { idempotencyKey, callbackUrl, signal }),
  }),
);
