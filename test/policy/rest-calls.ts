import type { Param } from '../../rest-compat/route/param.ts';
import type { Policy } from '../../schema/policy.ts';

/** One call of each route, made from its table: sound as far as the table tells, and of nothing that exists. */

export type RuledRoute = Policy['routes'][number];

/** A request to a route. */
export interface RouteCall {
  readonly method: string;
  readonly path: string;
  readonly body: string | FormData | null;
}

export interface RouteAnswer {
  readonly status: number;
  /** The envelope; null for what is no JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the envelope differs per service; tests assert it
  readonly body: any;
  readonly message: string;
  /** The header WWW-Authenticate. */
  readonly challenge: string | null;
}

/** An address that nothing is at. */
export const NOWHERE = 'http://127.0.0.1:1/none.png';

const USER = 'userId';

/** Whether callers say with this route on whose behalf they ask. */
export function routeNamesUser({ rule, route }: RuledRoute): boolean {
  return (rule === 'owner' || rule === 'unpaid') && Object.hasOwn(route.params, USER);
}

/** What it needs, and `given` by name. */
export function routeCall(
  ruled: RuledRoute,
  { userId, given = {} }: { readonly userId: string; readonly given?: Readonly<Record<string, string>> },
): RouteCall {
  const { method, path, params, body } = ruled.route;
  const oneOf = body?.oneOf?.[0] ?? [];
  const sent = Object.entries(params).flatMap(([name, param]) => {
    const isNamed = name === USER && routeNamesUser(ruled);
    const isSent = param.required || isNamed || oneOf.includes(name) || name in given || name === WAIT;
    return isSent ? [{ name, param, value: given[name] ?? (isNamed ? userId : makeValue(name, param)) }] : [];
  });
  const query = new URLSearchParams();
  let target = path;
  for (const { name, param, value } of sent) {
    if (param.in === 'path') target = target.replace(`{${name}}`, encodeURIComponent(toText(value)));
    else if (param.in === 'query') query.set(name, toText(value));
  }
  const search = query.size === 0 ? '' : `?${query.toString()}`;
  return { method, path: `${target}${search}`, body: makeBody(body?.type, sent) };
}

/** How long synchronous operations wait, in seconds. */
const WAIT = 'max_wait_time';

type Sent = { readonly name: string; readonly param: Param<unknown>; readonly value: unknown };

function makeBody(type: string | undefined, sent: readonly Sent[]): RouteCall['body'] {
  if (type === undefined) return null;
  if (type === 'raw') return '{}';
  const fields = sent.filter(({ param }) => ['form', 'json', 'file'].includes(param.in));
  if (type === 'application/json') {
    return JSON.stringify(Object.fromEntries(fields.map(({ name, value }) => [name, value])));
  }
  const form = new FormData();
  for (const { name, value } of fields) form.set(name, value instanceof Blob ? value : toText(value));
  return form;
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Blank texts are refused wherever a text costs money. */
function makeValue(name: string, param: Param<unknown>): unknown {
  if (name === WAIT) return 1;
  const word = param.enum?.[0] ?? param.known?.[0];
  const values: Readonly<Record<Param<unknown>['type'], unknown>> = {
    string: word ?? (param.in === 'path' || /id$/i.test(name) ? 'none' : ' '),
    'string|null': ' ',
    url: NOWHERE,
    'link-or-file': NOWHERE,
    integer: param.minimum ?? 1,
    number: param.minimum ?? 1,
    boolean: true,
    json: '{}',
    object: {},
    array: [],
    file: new Blob(['x'], { type: 'text/plain' }),
  };
  return values[param.type];
}

/** Sends it; redirects are answers. */
export async function sendRoute(
  url: string,
  { method, path, body }: RouteCall,
  headers: Readonly<Record<string, string>>,
): Promise<RouteAnswer> {
  const type: Readonly<Record<string, string>> =
    typeof body === 'string' ? { 'content-type': 'application/json' } : {};
  const answer = await fetch(`${url}${path}`, {
    method,
    redirect: 'manual',
    headers: { ...type, ...headers },
    ...(body === null ? {} : { body }),
  });
  const text = await answer.text();
  const parsed = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : null;
  const message = parsed?.['msg'] ?? parsed?.['message'];
  return {
    status: answer.status,
    body: parsed,
    message: typeof message === 'string' ? message : '',
    challenge: answer.headers.get('www-authenticate'),
  };
}
