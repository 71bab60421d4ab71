import type { HttpClient } from '../../../../platform/http/http-client.ts';
import type { Provider } from '../contract/provider.ts';
import { createExchange, type Exchange } from '../shared/exchange.ts';
import { makeImages } from './images.ts';

/**
 * The API of Stable Diffusion web UI (AUTOMATIC1111, Forge and its family, started with `--api`): pictures from words
 * and from a picture, one call that returns them. Kiln's reference is the id of the call's task there, by which its
 * progress is asked for and a cancelled call is interrupted; an ended one can't be found by it. Basic authentication,
 * where the server wants it, has `user` and `password` of the credentials.
 */
export function createStableDiffusionWebui({ http }: { readonly http: HttpClient }): Provider {
  const exchange = withLogin(createExchange(http));
  return {
    name: 'stable-diffusion-webui',
    calls: { IMAGE: { call: (request, context) => makeImages(exchange, request, context) } },
  };
}

function withLogin(exchange: Exchange): Exchange {
  return (context, request) => {
    const { user, password } = context.connection.credentials;
    if (user === undefined || password === undefined) return exchange(context, request);
    const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;
    return exchange(context, { ...request, headers: { ...request.headers, authorization } });
  };
}
