import type { HttpClient } from '../../../../platform/http/http-client.ts';
import type { Provider } from '../contract/provider.ts';
import { createExchange } from '../shared/exchange.ts';
import { cancelJob } from './cancel.ts';
import { createPool, type Pool } from './pool.ts';
import { startPrompt } from './prompt.ts';
import { findPrompt, promptStatus } from './status.ts';
import { watchPrompt } from './watch.ts';

/**
 * The ComfyUI server's wire, spoken to a pool of its machines (`connection.nodes`): each start goes to the machine
 * with the least to do of those that answer, and its handle names that machine. The prompt_id is made from Kiln's
 * reference, so that a start can be found again. Machines before v0.25 choose a prompt_id of their own: what they
 * have waiting or running is found by its client_id, what has ended there is not.
 */
export function createComfyui(options: { readonly http: HttpClient }): Provider {
  const exchange = createExchange(options.http);
  const pool: Pool = createPool(exchange);
  return {
    name: 'comfyui',
    jobs: {
      COMFY_WORKFLOW: {
        pollMs: 2_000,
        start: (request, context) => startPrompt({ exchange, pool }, request, context),
        find: (reference, context) => findPrompt(exchange, reference, context),
        status: (handle, context) =>
          pool.watchingHealth(handle, context, () => promptStatus(exchange, handle, context)),
        cancel: (handle, context) => cancelJob(exchange, handle, context),
        watch: (handle, context, report) => watchPrompt({ exchange, handle, context, report }),
      },
    },
    nodes: (context) => pool.loads(context),
  };
}
