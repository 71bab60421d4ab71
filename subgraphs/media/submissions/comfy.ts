import { resolveComfyWorkflow } from '../comfy-workflows/resolve.ts';
import { comfyKinds, type ComfyWork } from '../domain/work/comfy.ts';
import { prepare, type PrepareDependencies, type Prepared, type Requester } from './prepare.ts';
import type { ComfyRequest, MediaInput } from './submissions.ts';

/** A comfy workflow with its inputs filled in and its files resolved. */
export async function prepareComfy(
  dependencies: PrepareDependencies,
  requester: Requester,
  request: ComfyRequest,
): Promise<Prepared> {
  const { workflow, files } = resolveComfyWorkflow(request);
  const { workflowName, node } = request;
  const work: ComfyWork<MediaInput> = {
    kind: 'COMFY_WORKFLOW',
    generator: comfyKinds.COMFY_WORKFLOW.generator,
    workflow,
    ...(workflowName ? { workflowName } : {}),
    ...(node ? { node } : {}),
    files: Object.fromEntries(files.map(({ target, input }) => [target, input])),
  };
  const fields = new Map(files.map(({ target, field }) => [target, field]));
  return prepare(dependencies, requester, work, ({ key = '', field }) => fields.get(String(key)) ?? field);
}
