import type { JsonObject } from '../../../platform/json.ts';
import { runDocument } from '../../../rest-compat/replies/results.ts';
import { FaceGraph, FaceGraphs } from '../documents/graph.ts';
import { ModelNotFound } from '../models/find-model.ts';
import { textIn } from '../request/fields.ts';
import { contentOf, type InputFile } from '../request/media.ts';
import type { FaceCall } from '../table/route.ts';
import { startTask } from '../tasks/follow.ts';
import { joiningOf } from '../tasks/joining.ts';
import { graphInputs } from './inputs.ts';

/** ComfyUI graphs as models of pictures: `workflow/<name>`. */

const PREFIX = 'workflow/';

/** Whether a body names a graph as its model. */
export function namesWorkflow(body: JsonObject): boolean {
  return textIn(body, 'model')?.startsWith(PREFIX) === true;
}

interface Wanted {
  readonly body: JsonObject;
  readonly kind: string;
  readonly images: readonly InputFile[];
  readonly mask?: InputFile | undefined;
}

/** Starts the graph that a body names; `ignored` are fields that it has nothing for. Throws NOT_FOUND and BAD_USER_INPUT. */
export async function startWorkflow(call: FaceCall, { body, kind, images, mask }: Wanted) {
  const name = (textIn(body, 'model') ?? '').slice(PREFIX.length);
  const { comfyWorkflows } = await runDocument(call, FaceGraphs, {});
  const graph = comfyWorkflows.find((one) => one.name === name);
  if (graph === undefined) {
    const known = comfyWorkflows.map((one) => `${PREFIX}${one.name}`);
    throw new ModelNotFound(`${PREFIX}${name}`, 'comfy workflow', known);
  }
  const { inputs, ignored } = graphInputs(body, graph.inputs as JsonObject, { images, mask });
  const files = mask === undefined ? images : [...images, mask];
  const task = await startTask(call, FaceGraph, {
    input: { workflowName: name, inputs },
    ...joiningOf(call, contentOf(kind, body, { model: `${PREFIX}${name}`, files })),
  });
  return { task, ignored };
}
