import type { HttpClient } from '../../../../platform/http/http-client.ts';
import { UpstreamError } from '../../domain/failure.ts';
import type { CallContext, Connection } from '../contract/provider.ts';
import { addressOf, createExchange, type ExchangeAnswer } from '../shared/exchange.ts';
import { signedHeaders } from './signature.ts';

/** One action of one of Volcengine's services. */
interface Action {
  readonly service: 'cv' | 'vod';
  readonly method: 'GET' | 'POST';
  readonly name: string;
  readonly version: string;
  /** Further parameters of the query. */
  readonly query?: Readonly<Record<string, string>>;
  /** A JSON body, or a form. */
  readonly json?: object;
  readonly form?: Readonly<Record<string, string>>;
  /** `safe` only for reads. */
  readonly retry?: 'safe';
}

/** Sends one action, signed with the connection's pair of keys. */
export type SendAction = (context: CallContext, action: Action) => Promise<ExchangeAnswer>;

/** The one region that both services are signed for. */
const REGION = 'cn-north-1';

/** Creates the function that sends actions. */
export function createSendAction(http: HttpClient): SendAction {
  const exchange = createExchange(http);
  return async (context, action) => {
    const { accessKey, secretKey } = readKeys(context.connection);
    const there = at(context, action.service);
    const query = new URLSearchParams({ Action: action.name, Version: action.version, ...action.query });
    const path = `/?${query.toString()}`;
    const { contentType, body } = encodeBody(action);
    const signed = signedHeaders(
      {
        method: action.method,
        url: addressOf(there.connection, path),
        contentType,
        body,
        date: new Date(),
      },
      { accessKey, secretKey, service: action.service, region: REGION },
    );
    return exchange(there, {
      method: action.method,
      path,
      headers: { ...(contentType !== null && { 'content-type': contentType }), ...signed },
      ...(contentType !== null && { bytes: Buffer.from(body) }),
      ...(action.retry !== undefined && { retry: action.retry }),
    });
  };
}

function readKeys({ credentials }: Connection): { readonly accessKey: string; readonly secretKey: string } {
  const { accessKey, secretKey } = credentials;
  if (accessKey !== undefined && secretKey !== undefined) return { accessKey, secretKey };
  throw new UpstreamError('UNAVAILABLE', 'volcengine: there are no keys to sign with', {
    retryable: false,
  });
}

/** The same connection at the service's own address. */
function at(context: CallContext, service: Action['service']): CallContext {
  const { connection } = context;
  const baseUrl = service === 'cv' ? connection.baseUrl : connection.endpoints?.['vod'];
  if (baseUrl !== undefined) return { ...context, connection: { ...connection, baseUrl } };
  const message = 'volcengine: the binding has no address of VOD (endpoints.vod)';
  throw new UpstreamError('UNAVAILABLE', message);
}

function encodeBody({ json, form }: Action): { readonly contentType: string | null; readonly body: string } {
  if (json !== undefined) return { contentType: 'application/json', body: JSON.stringify(json) };
  if (form === undefined) return { contentType: null, body: '' };
  return {
    contentType: 'application/x-www-form-urlencoded',
    body: new URLSearchParams(form).toString(),
  };
}
