import { REDACTED, withoutSecrets } from '../../platform/process/redact.ts';
import { decodeBytes, parseJsonBody, type Exchange, type Headers, type RecordedBody } from './exchange.ts';

/** Removes secrets from recorded traffic: credentials in headers, addresses, forms and JSON. */

const SECRET_HEADER = /^(proxy-)?authorization$|cookie|api-?key|secret|token|signature|^x-manage-token$/i;
const SECRET_NAME =
  /^(access|refresh|id|login|manage|session)?_?tokens?$|secret|passw|api_?key|signature|^login_?code$|^authorization$|^credentials?$/i;
/** A code of sign-in; elsewhere `code` is that of a template. */
const SIGN_IN = /^\/[^?]*\bauth\//;

/** A copy without secrets. */
export function removeSecrets(exchange: Exchange): Exchange {
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
      body: bodyWithout(request.body, type, isSecret),
    },
    response: {
      ...response,
      headers: headersWithout(response.headers, isSecret),
      body: bodyWithout(response.body, response.headers['content-type'], isSecret),
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
  return `${withoutSecrets(target.slice(0, mark))}?${pairs.join('&')}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function bodyWithout(body: RecordedBody, contentType: string | undefined, isSecret: IsSecret): RecordedBody {
  if (body === null || 'omittedBytes' in body) return body;
  const json = parseJsonBody(body);
  if (typeof json === 'object' && json !== null) return { text: JSON.stringify(cleaned(json, isSecret)) };
  if (/^application\/x-www-form-urlencoded/i.test(contentType ?? '') && 'text' in body) {
    return { text: targetWithout(`?${body.text}`, isSecret).slice(1) };
  }
  if (/^multipart\/form-data/i.test(contentType ?? '')) return formWithout(body, contentType ?? '', isSecret);
  return 'text' in body ? { text: textWithout(body.text, isSecret) } : bytesWithout(body, isSecret);
}

/** The name of a member of a JSON object, and the beginning of a string that is its value. */
const STRING_MEMBER = /(?<!\\)"([^"\\]{1,200})"\s{0,20}:\s{0,20}"/g;

/** A text that is no whole JSON: that of a stream of events, or one that was cut off, in a value as well. */
function textWithout(text: string, isSecret: IsSecret): string {
  let clean = '';
  let end = 0;
  for (const { 0: member, 1: name = '', index } of text.matchAll(STRING_MEMBER)) {
    if (index < end || !isSecret(name)) continue;
    clean += `${text.slice(end, index)}${member}${REDACTED}`;
    end = findStringEnd(text, index + member.length);
  }
  return withoutSecrets(clean + text.slice(end));
}

/** The index of the quotation mark that ends the JSON string whose text begins at `start`. An expression would need a stack as deep as it is long. */
function findStringEnd(text: string, start: number): number {
  let at = start;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

function bytesWithout(body: { readonly base64: string }, isSecret: IsSecret): RecordedBody {
  const clean = latinWithout(Buffer.from(body.base64, 'base64').toString('latin1'), isSecret);
  return { base64: Buffer.from(clean, 'latin1').toString('base64') };
}

/** Bytes may be a text whose type is not said; those of files are left. */
function latinWithout(bytes: string, isSecret: IsSecret): string {
  return bytes.includes('\0') ? bytes : textWithout(bytes, isSecret);
}

/** The same form under the same boundary, so that its header still fits. It may have been cut off anywhere. */
function formWithout(
  body: Exclude<RecordedBody, null>,
  contentType: string,
  isSecret: IsSecret,
): RecordedBody {
  const boundary = /boundary="?([^";]+)"?/i.exec(contentType)?.[1] ?? '';
  const parts = decodeBytes(body)?.toString('latin1').split(`--${boundary}`) ?? [];
  const cleanParts = parts.map((part) => partWithout(part, isSecret));
  if (cleanParts.every((part, index) => part === parts[index])) return body;
  return { base64: Buffer.from(cleanParts.join(`--${boundary}`), 'latin1').toString('base64') };
}

function partWithout(part: string, isSecret: IsSecret): string {
  const [head = '', ...blocks] = part.split('\r\n\r\n');
  if (blocks.length === 0) return part;
  const name = /[;\s]name="?([^";\r\n]*)/i.exec(head)?.[1] ?? '';
  const value = blocks.join('\r\n\r\n');
  // The end of line before the boundary is not the value's: a JSON text that breaks off may not take it along.
  const end = value.endsWith('\r\n') ? '\r\n' : '';
  const clean = isSecret(name)
    ? `${REDACTED}\r\n`
    : latinWithout(value.slice(0, value.length - end.length), isSecret) + end;
  return `${head}\r\n\r\n${clean}`;
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
