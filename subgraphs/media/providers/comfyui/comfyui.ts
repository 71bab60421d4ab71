import type { HttpClient } from '../../../../platform/http/http-client.ts';
import type { Provider, CallContext, Handle } from '../contract/provider.ts';
import { createExchange, type Exchange } from '../shared/exchange.ts';
import { cancelPrompt, send } from './cancel.ts';
import { machineFacts } from './facts.ts';
import { at, readHandle } from './handle.ts';
import { createInventories, missingEverywhere } from './inventories.ts';
import { createPool, nodeProblems, type Pool } from './pool.ts';
import { startPrompt } from './prompt.ts';
import { findPrompt, promptStatus } from './status.ts';
import { watchPrompt } from './watch.ts';

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
        cancel: async (handle, context) => {
          const { node, promptId } = readHandle(handle, context.connection);
          return cancelPrompt(exchange, at(context, node), promptId);
        },
        erase: (handle, context) => eraseJob(exchange, handle, context),
        watch: (handle, context, report) => watchPrompt({ exchange, handle, context, report }),
      },
    },
    nodes: (context) => pool.loads(context),
    machine: (context) => machineFacts({ exchange, inventories }, context),
  };
}

/** Takes a prompt out of its machine's history. The files that it made stay there: no request removes them. */
async function eraseJob(exchange: Exchange, handle: Handle, context: CallContext): Promise<void> {
  const { node, promptId } = readHandle(handle, context.connection);
  await send(exchange, at(context, node), { path: '/history', json: { delete: [promptId] } });
}
