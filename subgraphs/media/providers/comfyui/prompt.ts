import type { JsonObject } from '../../../../platform/json.ts';
import { invalidInput, UpstreamError } from '../../domain/failure.ts';
import type { InputFile } from '../../domain/inputs/input-files.ts';
import type { RequestOf } from '../../domain/work/request.ts';
import type { Handle, StartContext } from '../contract/provider.ts';
import { beforeStart, readInput, type Exchange } from '../shared/exchange.ts';
import { encodeForm } from '../shared/request-body.ts';
import { cancelPrompt } from './cancel.ts';
import { brokenNodes, refusedGraph } from './failures.ts';
import { at, createHandle, derivePromptId } from './handle.ts';
import type { Pool } from './pool.ts';
import { parseAccepted, OUTPUTS_FIELD, throwHttpRefusal, uploadedName } from './wire.ts';

/** Starting a graph: choose a server, upload the input files, queue the graph. */

type ComfyRequest = RequestOf<'COMFY_WORKFLOW'>;

interface Parts {
  readonly exchange: Exchange;
  readonly pool: Pool;
}

const UPLOAD_TIMEOUT_MS = 120_000;

/** Throws UpstreamError; INVALID_INPUT names the node, its class and its input. */
export async function startPrompt(
  { exchange, pool }: Parts,
  request: ComfyRequest,
  context: StartContext,
): Promise<Handle> {
  return pool.onBestServer(context, request, async (node) => {
    const there = at(context, node);
    const graph = await withFiles(exchange, request, there);
    const promptId = derivePromptId(context.reference);
    const answer = await exchange(there, {
      method: 'POST',
      path: '/prompt',
      json: {
        prompt: graph,
        client_id: promptId,
        prompt_id: promptId,
        ...(request.outputs && { extra_data: { [OUTPUTS_FIELD]: request.outputs } }),
      },
    });
    if (answer.status === 400) throw refusedGraph(answer, graph);
    throwHttpRefusal(answer);
    const { prompt_id: assignedId, node_errors: errors } = parseAccepted(answer);
    if (Object.keys(errors).length > 0) {
      // The server would run the rest of the graph and make half a result.
      await stop(exchange, there, assignedId);
      throw brokenNodes(errors, graph);
    }
    return createHandle({ node, promptId: assignedId, outputs: request.outputs }, graph);
  });
}

/** Best effort: a prompt that goes on runs for nothing. */
async function stop(exchange: Exchange, there: StartContext, promptId: string): Promise<void> {
  await cancelPrompt(exchange, there, promptId).catch((error: unknown) => {
    if (!(error instanceof UpstreamError)) throw error;
  });
}

/** The graph with the server's names of the uploaded files. */
async function withFiles(
  exchange: Exchange,
  { workflow, files }: ComfyRequest,
  context: StartContext,
): Promise<JsonObject> {
  const graph = structuredClone(workflow) as Record<string, { inputs?: Record<string, unknown> }>;
  for (const [index, [target, file]] of Object.entries(files).entries()) {
    const dot = target.indexOf('.');
    const inputs = graph[target.slice(0, dot)]?.inputs;
    if (dot === -1 || inputs === undefined) {
      throw invalidInput('inputs', `the workflow has no input ${target}`);
    }
    const name = `${derivePromptId(context.reference)}-${index}${chooseExtension(file)}`;
    inputs[target.slice(dot + 1)] = await upload(exchange, context, { file, name, target });
  }
  return graph as JsonObject;
}

interface Upload {
  readonly file: InputFile;
  readonly name: string;
  readonly target: string;
}

/** Uploads a file. Nothing has been started yet, whatever goes wrong here. */
async function upload(
  exchange: Exchange,
  context: StartContext,
  { file, name, target }: Upload,
): Promise<string> {
  const content = new Uint8Array(await readInput(file, `inputs.${target}`));
  const form = new FormData();
  form.append('image', new Blob([content], { type: file.contentType }), name);
  form.append('type', 'input');
  form.append('subfolder', 'kiln');
  // The name belongs to this start: an existing file of that name is the same one, from an earlier try.
  form.append('overwrite', 'true');
  const { bytes, headers } = await encodeForm(form);
  const sent = exchange(context, {
    method: 'POST',
    path: '/upload/image',
    bytes,
    headers,
    timeoutMs: UPLOAD_TIMEOUT_MS,
  });
  return beforeStart(
    sent.then((answer) => {
      throwHttpRefusal(answer);
      return uploadedName(answer);
    }),
  );
}

/** Servers choose a reader by the file extension. */
function chooseExtension({ name, contentType }: InputFile): string {
  const own = /\.[a-z0-9]{1,5}$/i.exec(name)?.[0];
  const subtype = /\/([a-z0-9]{2,5})\b/.exec(contentType)?.[1];
  return own?.toLowerCase() ?? (subtype === undefined ? '' : `.${subtype === 'jpeg' ? 'jpg' : subtype}`);
}
