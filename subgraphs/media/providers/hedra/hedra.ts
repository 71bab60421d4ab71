import type { HttpClient } from '../../../../platform/http/http-client.ts';
import type { CallContext, Provider } from '../contract/provider.ts';
import { createExchange } from '../shared/exchange.ts';
import { uploadFile } from './files.ts';
import { createJobs, listVoices } from './jobs.ts';
import { createWebApp } from './web-app.ts';

/**
 * Hedra: talking videos of a person in an image, from audio or text. Base URLs that end in `/web-app` speak its older
 * API; every other one speaks v3. Neither has a cancel.
 */
export function createHedra({ http }: { readonly http: HttpClient }): Provider {
  const exchange = createExchange(http);
  const jobs = createJobs({ http, exchange });
  const webApp = createWebApp({ http, exchange });
  return {
    name: 'hedra',
    jobs: {
      LIP_SYNC: {
        pollMs: 3_000,
        start: (request, context) => (isWebApp(context) ? webApp : jobs).start(request, context),
        // v3 has no field for a reference.
        find: async (reference, context) =>
          isWebApp(context) ? webApp.find(reference, context) : 'unknowable',
        status: (handle, context) => (isWebApp(context) ? webApp : jobs).status(handle, context),
        // The older API has no stream.
        watch: async (handle, context, report) =>
          isWebApp(context) ? undefined : jobs.watch(handle, context, report),
      },
    },
    voices: (context) => (isWebApp(context) ? webApp.voices(context) : listVoices(exchange, context)),
    upload: ({ file }, context) =>
      isWebApp(context)
        ? webApp.upload({ file, field: 'file' }, context)
        : uploadFile(exchange, { file, field: 'file' }, context),
  };
}

function isWebApp({ connection: { baseUrl, pathPrefix } }: CallContext): boolean {
  return /\/web-app\/?$/.test(`${baseUrl}${pathPrefix}`);
}
