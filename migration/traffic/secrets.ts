import { REDACTED, withoutSecrets } from '../../platform/process/redact.ts';
import {
  decodeBytes,
  parseJsonBody,
  type Exchange,
  type Headers,
  type RecordedBody,
  readForm,
} from './exchange.ts';

/** Removes secrets from recorded traffic: credentials in headers, addresses, forms and JSON. */

const SECRET_HEADER = /^(proxy-)?authorization$|cookie|api-?key|secret|token|signature|^x-manage-token$/i;
const SECRET_NAME =
  /^(access|refresh|id|login|manage|session)?_?tokens?$|secret|passw|api_?key|signature|^login_?code$|^authorization$|^credentials?$/i;
/** A code of sign-in; elsewhere `code` is that of a template. */
const SIGN_IN = /^\/[^?]*\bauth\//;

/** A copy without secrets. */
export async function removeSecrets(exchange: Exchange): Promise<Exchange> {
  const { request, response } = exchange;
  const isSignIn = SIGN_IN.test(request.target);
  const isSecret = (name: string) =>
    SECRET_NAME.test(name) || (isSignIn && (name === 'code' || name === 'state'));
  const type = request.headers['content-type'];
  return {
    ...exchange,
    request: {
      ...request,
      target: targetWithout(request.target, isSecret),
      headers: headersWithout(request.headers, isSecret),
      body: await bodyWithout(request.body, type, isSecret),
    },
    response: {
      ...response,
      headers: headersWithout(response.headers, isSecret),
      body: await bodyWithout(response.body, response.headers['content-type'], isSecret),
    },
  };
}

type IsSecret = (name: string) => boolean;

function headersWithout(headers: Headers, isSecret: IsSecret): Headers {
  const clean = (name: string, value: string) => {
    if (SECRET_HEADER.test(name)) return REDACTED;
    return name === 'location' || name === 'referer' ? targetWithout(value, isSecret) : withoutSecrets(value);
  };
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, clean(name, value)]));
}

/** An address whose secret parameters are removed. */
function targetWithout(target: string, isSecret: IsSecret): string {
  const mark = target.indexOf('?');
  if (mark === -1) return withoutSecrets(target);
  const pairs = target
    .slice(mark + 1)
    .split('&')
    .map((pair) => {
      const [name = ''] = pair.split('=', 1);
      return isSecret(decoded(name)) ? `${name}=${REDACTED}` : pair;
    });
  return `${target.slice(0, mark)}?${pairs.join('&')}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function bodyWithout(
  body: RecordedBody,
  contentType: string | undefined,
  isSecret: IsSecret,
): Promise<RecordedBody> {
  if (body === null || 'omittedBytes' in body) return body;
  const json = parseJsonBody(body);
  if (typeof json === 'object' && json !== null) return { text: JSON.stringify(cleaned(json, isSecret)) };
  if (contentType?.startsWith('application/x-www-form-urlencoded') === true && 'text' in body) {
    return { text: targetWithout(`?${body.text}`, isSecret).slice(1) };
  }
  if (contentType?.startsWith('multipart/form-data') === true) {
    return formWithout(body, contentType, isSecret);
  }
  return 'text' in body ? { text: withoutSecrets(body.text) } : body;
}

/** The same form under the same boundary, so that its header still fits. */
async function formWithout(
  body: Exclude<RecordedBody, null>,
  contentType: string,
  isSecret: IsSecret,
): Promise<RecordedBody> {
  const form = await readForm(body, contentType);
  const secrets = form?.names.filter(isSecret) ?? [];
  const bytes = decodeBytes(body);
  if (secrets.length === 0 || bytes === null) return body;
  const boundary = /boundary="?([^";]+)"?/i.exec(contentType)?.[1] ?? '';
  const parts = bytes.toString('latin1').split(`--${boundary}`);
  const cleanParts = parts.map((part) => {
    const name = /name="([^"]*)"/i.exec(part)?.[1] ?? '';
    if (!secrets.includes(name)) return part;
    return `${part.slice(0, part.indexOf('\r\n\r\n') + 4)}${REDACTED}\r\n`;
  });
  return { base64: Buffer.from(cleanParts.join(`--${boundary}`), 'latin1').toString('base64') };
}

function cleaned(value: unknown, isSecret: IsSecret): unknown {
  if (typeof value === 'string') return withoutSecrets(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => cleaned(item, isSecret));
  const entries = Object.entries(value).map(([name, item]) => [
    name,
    typeof item === 'string' && isSecret(name) ? REDACTED : cleaned(item, isSecret),
  ]);
  return Object.fromEntries(entries);
}
