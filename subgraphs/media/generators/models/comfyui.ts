import type { ModelLimits } from '../../domain/inputs/model-limits.ts';
import { model } from './model.ts';

/** ComfyUI: graphs that name their own models. */
export const comfyui: readonly ModelLimits[] = [
  model('comfyui', 'ComfyUI', {
    category: 'workflow',
    kinds: ['COMFY_WORKFLOW'],
    inputs: ['workflow', 'workflowName', 'inputs', 'node'],
  }),
];
