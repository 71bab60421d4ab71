import { randomUUID } from 'node:crypto';

import { isObject, type JsonObject } from '../../../platform/json.ts';
import type { Fault } from '../../faults/faults.ts';
import { json, type Answer } from '../../http/answer.ts';
import { jsonObject, type WireRequest } from '../../http/wire.ts';
import { toJobFault } from '../shared/stand-in.ts';
import { type ComfyuiContext, parsePlace } from './files.ts';
import { readGraph, type Graph } from './graph/graph.ts';
import { validate } from './graph/validate.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** POST /prompt. Starts are counted by the requested prompt_id. */
export async function submitPrompt(
  { runner, files, lacking }: ComfyuiContext,
  request: WireRequest,
  fault: Fault | null,
): Promise<Answer> {
  const body = jsonObject(request);
  const graph = readGraph(body?.['prompt']);
  if (body === null || graph === null) return refused({ type: 'no_prompt', message: 'No prompt provided' });
  const wanted = body['prompt_id'] ?? null;
  if (wanted !== null && (typeof wanted !== 'string' || !UUID.test(wanted))) {
    return refused({ type: 'invalid_prompt_id', message: 'prompt_id must be a valid UUID' });
  }
  const verdict = await validate(graph, {
    hasFile: async (name) => (await files.read(parsePlace(name))) !== null,
    lacking: lacking(),
  });
  if ('error' in verdict) return json({ error: verdict.error, node_errors: verdict.nodeErrors }, 400);
  // The real server runs a repeated prompt_id again; here each start gets its own id, so that it stays visible.
  const id = wanted === null || runner.get(wanted) !== null ? randomUUID() : wanted;
  const job = await runner.submit({
    id,
    operation: 'prompt',
    reference: wanted,
    input: {
      graph: body['prompt'] as JsonObject,
      extra: isObject(body['extra_data']) ? body['extra_data'] : {},
      clientId: typeof body['client_id'] === 'string' ? body['client_id'] : null,
      outputs: verdict.outputs,
      pictures: inputNames(graph).map((name) => files.keptName(parsePlace(name))),
      prompt: promptIn(graph),
    },
    fault: toJobFault(fault),
  });
  if (job === null) return json({ error: 'the line is full' }, 429);
  return json({ prompt_id: id, number: job.submittedAt, node_errors: verdict.nodeErrors });
}

function refused({ type, message }: { readonly type: string; readonly message: string }): Answer {
  return json({ error: { type, message, details: message, extra_info: {} }, node_errors: {} }, 400);
}

/** The input files of a graph; the journal deletes them together with the job. */
function inputNames(graph: Graph): string[] {
  return [...graph.values()].flatMap(({ classType, inputs }) =>
    (classType === 'LoadImage' || classType === 'LoadImageMask') && typeof inputs['image'] === 'string'
      ? [inputs['image']]
      : [],
  );
}

/** The first text of a graph, for the status page. */
function promptIn(graph: Graph): string {
  const texts = [...graph.values()].map(({ inputs }) => inputs['text'] ?? inputs['value']);
  return texts.find((text) => typeof text === 'string') ?? '';
}
