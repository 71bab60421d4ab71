import type { HttpClient } from '../../../../platform/http/http-client.ts';
import type { Handle, Provider } from '../contract/provider.ts';
import { createExchange } from '../shared/exchange.ts';
import { contentItems, chooseRatio, withVendorOptions } from '../shared/request-body.ts';
import { jobStatus, startedId, throwUnlessErased } from './wire.ts';

const TASKS = '/contents/generations/tasks';
const DEFAULT_MODEL = 'doubao-seedance-2-0-260128';
/** Frames and references are sent inline: up to nine images of 20 MB each. */
const START_TIMEOUT_MS = 300_000;

/**
 * Volcengine's ModelArk (BytePlus' outside China): videos of Seedance. The wire has no field for Kiln's reference, so a start
 * without an answer can't be found again. A task is deleted where it may not be cancelled, so nothing is ever cancelled.
 */
export function createArk(options: { readonly http: HttpClient }): Provider {
  const exchange = createExchange(options.http);
  return {
    name: 'ark',
    jobs: {
      VIDEO: {
        pollMs: 3_000,
        async start(request, context) {
          const { resolution, duration, seed } = request;
          const answer = await exchange(context, {
            method: 'POST',
            path: TASKS,
            json: withVendorOptions(request, {
              model: context.connection.model ?? DEFAULT_MODEL,
              content: await contentItems(request),
              resolution,
              duration,
              ratio: chooseRatio(request),
              seed,
            }),
            timeoutMs: START_TIMEOUT_MS,
          });
          return { id: startedId(answer) };
        },
        async status(handle, context) {
          return jobStatus(
            await exchange(context, { method: 'GET', path: formatPath(handle), retry: 'safe' }),
          );
        },
        async erase(handle, context) {
          throwUnlessErased(
            await exchange(context, { method: 'DELETE', path: formatPath(handle), retry: 'safe' }),
          );
        },
      },
    },
  };
}

function formatPath({ id }: Handle): string {
  return `${TASKS}/${encodeURIComponent(typeof id === 'string' ? id : '')}`;
}
