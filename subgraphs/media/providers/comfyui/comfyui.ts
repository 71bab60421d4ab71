import type { HttpClient } from '../../../../platform/http/http-client.ts';
import { UpstreamError } from '../../domain/failure.ts';
import type { Provider, CallContext, Handle } from '../contract/provider.ts';
import { createExchange, type Exchange } from '../shared/exchange.ts';
import { machineFacts } from './facts.ts';
import { at, readHandle } from './handle.ts';
import { createInventories, missingEverywhere } from './inventories.ts';
import { createPool, nodeProblems, type Pool } from './pool.ts';
import { startPrompt } from './prompt.ts';
import { findPrompt, promptStatus, readQueue } from './status.ts';
import { watchPrompt } from './watch.ts';
import { throwHttpRefusal } from './wire.ts';

/**
 * The ComfyUI server's wire, over a pool of servers (`connection.nodes`): each start goes to the least busy server that
 * answers, has what the graph needs and, if possible, its models loaded; its handle names that server. The prompt_id is derived from Kiln's reference, so a start can be found
 * again. Servers before v0.25 choose their own prompt_id: their pending and running prompts are found by client_id,
 * ended ones are not.
 */
export function createComfyui(options: { readonly http: HttpClient }): Provider {
  const exchange = createExchange(options.http);
  const inventories = createInventories(exchange);
  const pool: Pool = createPool(exchange, inventories);
  return {
    name: 'comfyui',
    inputProblems: (work, connection) =>
      work.kind === 'COMFY_WORKFLOW' ? nodeProblems(work.node, connection) : [],
    missing: async (work, context) =>
      work.kind === 'COMFY_WORKFLOW' ? missingEverywhere(inventories, work, context) : [],
    jobs: {
      COMFY_WORKFLOW: {
        pollMs: 2_000,
        start: (request, context) => startPrompt({ exchange, pool }, request, context),
        find: (reference, context) => findPrompt(exchange, reference, context),
        status: (handle, context) =>
          pool.watchingHealth(handle, context, () => promptStatus(exchange, handle, context)),
        cancel: (handle, context) => cancelJob(exchange, handle, context),
        erase: (handle, context) => eraseJob(exchange, handle, context),
        watch: (handle, context, report) => watchPrompt({ exchange, handle, context, report }),
      },
    },
    nodes: (context) => pool.loads(context),
    machine: (context) => machineFacts({ exchange, inventories }, context),
  };
}

/** Stops a prompt, pending or running. Servers without the jobs API (before v0.26) have one request for each. */
async function cancelJob(
  exchange: Exchange,
  handle: Handle,
  context: CallContext,
): Promise<'cancelled' | 'too-late'> {
  const { node, promptId } = readHandle(handle, context.connection);
  const there = at(context, node);
  const answer = await exchange(there, {
    method: 'POST',
    path: `/api/jobs/${encodeURIComponent(promptId)}/cancel`,
    json: {},
    mayBePage: true,
  });
  if (answer.status === 404 || answer.status === 405) return cancelByQueue(exchange, there, promptId);
  throwHttpRefusal(answer);
  const { json } = answer;
  const isObject = typeof json === 'object' && json !== null && 'cancelled' in json;
  if (!isObject) {
    throw new UpstreamError('UNAVAILABLE', "comfyui answered something that can't be read");
  }
  return json.cancelled === true ? 'cancelled' : 'too-late';
}

/** Takes a prompt out of its machine's history. The files that it made stay there: no request removes them. */
async function eraseJob(exchange: Exchange, handle: Handle, context: CallContext): Promise<void> {
  const { node, promptId } = readHandle(handle, context.connection);
  await send(exchange, at(context, node), { path: '/history', json: { delete: [promptId] } });
}

async function cancelByQueue(
  exchange: Exchange,
  there: CallContext,
  promptId: string,
): Promise<'cancelled' | 'too-late'> {
  const { running, pending } = await readQueue(exchange, there);
  const isThis = (item: { readonly promptId: string }) => item.promptId === promptId;
  if (pending.some(isThis)) {
    await send(exchange, there, { path: '/queue', json: { delete: [promptId] } });
    // It may have begun meanwhile: nothing was deleted then.
    const now = await readQueue(exchange, there);
    if (!now.running.some(isThis)) return 'cancelled';
  } else if (!running.some(isThis)) return 'too-late';
  // With its id: without it, whatever prompt runs by now would be interrupted.
  await send(exchange, there, { path: '/interrupt', json: { prompt_id: promptId } });
  return 'cancelled';
}

async function send(
  exchange: Exchange,
  there: CallContext,
  request: { readonly path: string; readonly json: object },
): Promise<void> {
  throwHttpRefusal(await exchange(there, { method: 'POST', ...request }));
}
