import { resolveComfyWorkflow } from '../comfy-workflows/resolve.ts';
import type { ComfyWork } from '../domain/task.ts';
import { preparedNamed, type Asker, type Prepared } from './prepare.ts';
import { resolveInputs, type InputFileDependencies } from './resolve-inputs.ts';
import type { ComfyRequest } from './submissions.ts';

/** The generator of every comfy workflow: the pool of ComfyUI machines. */
const GENERATOR = 'comfy';

/** A comfy workflow with its inputs filled in and its files resolved. */
export async function prepareComfy(
  dependencies: InputFileDependencies,
  asker: Asker,
  request: ComfyRequest,
): Promise<Prepared> {
  const { workflow, files: given } = resolveComfyWorkflow(request);
  const { workflowName, node } = request;
  const resolved = await resolveInputs(dependencies, { ...asker, inputs: given });
  const files = Object.fromEntries(given.map(({ place }, index) => [place, resolved[index]]));
  const asked: Omit<ComfyWork, 'files'> = {
    generator: GENERATOR,
    workflow,
    ...(workflowName ? { workflowName } : {}),
    ...(node ? { node } : {}),
  };
  const refs = Object.fromEntries(
    given.flatMap(({ place }, index) => {
      const file = resolved[index];
      return file === undefined ? [] : [[place, file.ref]];
    }),
  );
  return preparedNamed('runComfyWorkflow', { kind: 'COMFY_WORKFLOW', ...asked, files: refs }, asked, files);
}
