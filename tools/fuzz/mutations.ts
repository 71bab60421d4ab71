import { gzipSync } from 'node:zlib';

import type { Draft } from './draft.ts';
import type { Random } from './random.ts';
import type { Message } from './raw-http.ts';

/** What is done to a request that would have been fine. */
export interface Mutation {
  readonly name: string;
  /** What is sent is not HTTP any more, or is not sent to its end: Node may refuse it without a body, or hang up. */
  readonly breaksHttp?: true;
  /** Changes the parts. False: there is nothing here that it could change. */
  readonly parts?: (draft: Draft, random: Random) => boolean;
  /** Changes what is written. */
  readonly written?: (message: Message, random: Random) => Message;
}

/** Gives another value to one of the inputs. */
function input(
  name: string,
  values: readonly unknown[],
  isFit: (name: string) => boolean = () => true,
): Mutation {
  return {
    name,
    parts({ path, query, body }, random) {
      const places: ((value: unknown) => void)[] = [
        ...[...path.keys()].filter(isFit).map((key) => (value: unknown) => void path.set(key, asText(value))),
        ...query
          .filter(([key]) => isFit(key))
          .map((pair) => (value: unknown) => void (pair[1] = asText(value))),
        ...(body?.fields ?? [])
          .filter(([key]) => isFit(key))
          .map((pair) => (value: unknown) => void (pair[1] = body?.as === 'json' ? value : asText(value))),
      ];
      if (places.length === 0) return false;
      random.of(places)(random.of(values));
      return true;
    },
  };
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

const big = [2 ** 31, 2 ** 31 - 1, -(2 ** 31) - 1, 2 ** 32, 2 ** 53, '2147483648', '9007199254740993', 1e300];
const deep = JSON.parse(`${'['.repeat(80)}1${']'.repeat(80)}`) as unknown;

const inputMutations: readonly Mutation[] = [
  input('a number beyond 2^31', [...big, '99999999999999999999999', '-99999999999999999999'], (name) =>
    /id|page|size|count|amount|limit|offset|seed|duration|time|tokens|^n$|interval/i.test(name),
  ),
  input('not the number it looks like', [
    '1e400',
    '0x10',
    '1.5',
    '-0',
    '١',
    'NaN',
    'Infinity',
    '',
    ' 7 ',
    '1_000',
  ]),
  input('a NUL character', ['\0', 'a\0b', '\0\0\0', 'task\0; drop', { 'a\0': 1 }]),
  input('half of a surrogate pair', ['\ud800', 'a\udc00b', { '\ud83d': '\udc00' }]),
  input('another type', [null, true, 0, [], {}, [[]], ['x', 1], { $gt: '' }, deep]),
  input('a long text', ['x'.repeat(70_000), '灯'.repeat(5_000), 'a,'.repeat(3_000)]),
  input('a text with a meaning elsewhere', [
    "'; drop table tasks; --",
    '../../../etc/passwd',
    '${7*7}',
    '{prompt}',
    '%00',
    '%2e%2e%2f',
    '\r\nSet-Cookie: a=b',
    '<script>1</script>',
    'http://127.0.0.1:1/',
    'http://169.254.169.254/',
    'file:///etc/passwd',
    'data:,x',
    'javascript:1',
    '\u202e',
    '..',
    '.',
  ]),
  {
    name: 'an empty input',
    parts: (draft, random) => input('', ['']).parts?.(draft, random) ?? false,
  },
];

const partMutations: readonly Mutation[] = [
  {
    name: 'a repeated parameter',
    parts({ query, body }, random) {
      const lists: [string, unknown][][] = [query, body?.fields ?? []].filter((list) => list.length > 0);
      if (lists.length === 0) return false;
      const list = random.of(lists);
      const [name, value] = random.of(list);
      for (let count = random.below(3); count >= 0; count -= 1)
        list.push([name, random.chance(50) ? value : 'again']);
      return true;
    },
  },
  {
    name: 'a missing input',
    parts({ query, body }, random) {
      const lists: [string, unknown][][] = [query, body?.fields ?? []].filter((list) => list.length > 0);
      if (lists.length === 0) return false;
      const list = random.of(lists);
      list.splice(random.below(list.length), 1);
      return true;
    },
  },
  {
    name: 'an unknown input',
    parts({ query, body }, random) {
      const name = random.of([
        '__proto__',
        'constructor',
        'toString',
        'a[b][c]',
        'ünï',
        '',
        'page',
        'extra\0',
      ]);
      if (body !== null && random.chance(70)) body.fields.push([name, random.of(['x', { a: 1 }, 2 ** 40])]);
      else query.push([encodeURIComponent(name), 'x']);
      return true;
    },
  },
  {
    name: 'a body of another kind',
    parts({ body }, random) {
      if (body === null) return false;
      body.as = random.of((['json', 'urlencoded', 'multipart'] as const).filter((way) => way !== body.as));
      return true;
    },
  },
  {
    name: 'an odd header',
    parts({ headers }, random) {
      headers.push(
        random.of<[string, string]>([
          ['Idempotency-Key', 'k'.repeat(300)],
          ['Idempotency-Key', `key-${random.below(20)}`],
          ['Idempotency-Key', 'caf\xe9'],
          ['X-Callback-Url', 'javascript:1'],
          ['X-Callback-Url', 'http://127.0.0.1/'],
          ['Authorization', 'Bearer eyJhbGciOiJub25lIn0.e30.'],
          ['Authorization', 'Basic \xff\xfe'],
          ['Accept', 'text/html, application/json;q=0'],
          ['Cookie', '__proto__=1; a=%ff; =;;'],
          ['X-Forwarded-For', '::1, a'],
          ['stripe-signature', 't=1,v1=00'],
          ['Range', 'bytes=9-1'],
          ['If-None-Match', '*'],
        ]),
      );
      return true;
    },
  },
  {
    name: 'a method that is not described',
    parts(draft, random) {
      draft.method = random.of([
        'HEAD',
        'OPTIONS',
        'PATCH',
        'PUT',
        'DELETE',
        'TRACE',
        'PROPFIND',
        'GET',
        'POST',
      ]);
      return true;
    },
  },
];

/** Takes the headers of this name out, and puts one in. */
function withHeader({ headers, ...rest }: Message, name: string, value: string | null): Message {
  const others = headers.filter(([known]) => known.toLowerCase() !== name.toLowerCase());
  return { ...rest, headers: value === null ? others : [...others, [name, value]] };
}

function withBytes(name: string, change: (bytes: Buffer, random: Random) => Buffer): Mutation {
  return {
    name,
    written: (message, random) => ({ ...message, body: change(message.body, random) }),
  };
}

const encodingMutations: readonly Mutation[] = [
  {
    name: 'a target that is no UTF-8',
    written(message, random) {
      const bad = random.of([
        '%ff',
        '%c3%28',
        '%ed%a0%80',
        '%',
        '%zz',
        '%00',
        '%u0041',
        '+%20+',
        '%f8%88%80%80%80',
      ]);
      const [path = '', search = ''] = message.target.split('?', 2);
      if (search === '' || random.chance(30))
        return { ...message, target: `${path}?task_id=${bad}&page=${bad}` };
      return { ...message, target: `${path}?${search.replace(/=[^&]*/, `=a${bad}`)}` };
    },
  },
  {
    name: 'a path that is no UTF-8',
    written(message, random) {
      const bad = random.of(['%ff', '%c3%28', '%', '%zz', '%00', '%2f', '%2e%2e', ';a=b']);
      const [path = '', ...search] = message.target.split('?');
      return { ...message, target: [path.replace(/[^/]*$/, bad), ...search].join('?') };
    },
  },
  {
    name: 'a body in UTF-16',
    written: (message, random) =>
      withHeader(
        { ...message, body: Buffer.from(`\ufeff${message.body.toString('latin1')}`, 'utf16le') },
        'Content-Type',
        random.of([
          'application/json; charset=utf-16',
          'application/x-www-form-urlencoded; charset=utf-16le',
        ]),
      ),
  },
  withBytes('a body with bytes that are no UTF-8', (bytes, random) => {
    const at = random.below(bytes.length + 1);
    const bad = random.of([
      [0xff],
      [0xc3, 0x28],
      [0xed, 0xa0, 0x80],
      [0x00],
      [0xef, 0xbb, 0xbf],
      [0x80, 0x80],
    ]);
    return Buffer.concat([bytes.subarray(0, at), Buffer.from(bad), bytes.subarray(at)]);
  }),
  withBytes('a body that ends early', (bytes, random) => bytes.subarray(0, random.below(bytes.length + 1))),
  withBytes('a body of noise', (bytes, random) =>
    Buffer.from(Array.from({ length: Math.min(bytes.length + 20, 400) }, () => random.below(256))),
  ),
  withBytes('no body', () => Buffer.alloc(0)),
  {
    name: 'another content type',
    written: (message, random) =>
      withHeader(
        message,
        'Content-Type',
        random.of([
          null,
          '',
          'application/json; charset=nonsense',
          'multipart/form-data',
          'multipart/form-data; boundary=',
          'multipart/form-data; boundary=other',
          `multipart/form-data; boundary=${'b'.repeat(80)}`,
          'application/x-www-form-urlencoded; charset=shift_jis',
          'text/plain',
          'application/xml',
          'nonsense',
          'application/json, text/html',
        ]),
      ),
  },
  {
    name: 'a compressed body',
    written: (message, random) =>
      withHeader(
        { ...message, body: random.chance(50) ? gzipSync(message.body) : message.body },
        'Content-Encoding',
        random.of(['gzip', 'br', 'deflate', 'identity', 'x']),
      ),
  },
  {
    name: 'a header twice',
    written: (message, random) => {
      const [name, value] = random.of([
        ['Content-Type', 'text/plain'],
        ['Idempotency-Key', 'b'],
        ['Authorization', 'Bearer b'],
        ['X-Callback-Url', 'http://b/'],
      ] as const);
      return { ...message, headers: [[name, 'a'], ...message.headers, [name, value]] };
    },
  },
];

const brokenMutations: readonly Mutation[] = [
  {
    name: 'bytes beyond ASCII in the target',
    breaksHttp: true,
    written: (message) => ({
      ...message,
      target: `${message.target}${message.target.includes('?') ? '&' : '?'}x=\xff\xfe`,
    }),
  },
  {
    name: 'a NUL byte in the target or a header',
    breaksHttp: true,
    written: (message, random) =>
      random.chance(50)
        ? { ...message, target: `${message.target}\0` }
        : { ...message, headers: [...message.headers, ['X-Odd', 'a\0b']] },
  },
  {
    name: 'a body shorter than announced',
    breaksHttp: true,
    written: (message, random) => ({ ...message, length: message.body.length + 1 + random.below(100) }),
  },
  {
    name: 'chunks that are none',
    breaksHttp: true,
    written: (message, random) => ({
      ...message,
      length: 'none',
      headers: [...message.headers, ['Transfer-Encoding', 'chunked']],
      body: Buffer.from(
        random.of(['zz\r\nabc\r\n0\r\n\r\n', '5\r\nab\r\n0\r\n\r\n', '0\r\n\r\n', 'ffffffffff\r\n']),
      ),
    }),
  },
  {
    name: 'headers that contradict or are too long',
    breaksHttp: true,
    written: (message, random) => ({
      ...message,
      headers: [
        ...message.headers,
        random.of([
          ['Content-Length', '3'],
          ['X-Long', 'x'.repeat(100_000)],
          ['Expect', 'nonsense'],
          ['Expect', '100-continue'],
          ['Host', 'a b'],
          ['Host', ''],
        ] as const),
      ],
    }),
  },
];

/** Every mutation there is. */
export const mutations: readonly Mutation[] = [
  ...inputMutations,
  ...inputMutations.slice(0, 3),
  ...partMutations,
  ...encodingMutations,
  ...brokenMutations,
];
