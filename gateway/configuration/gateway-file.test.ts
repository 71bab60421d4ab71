import { readFileSync } from 'node:fs';
import path from 'node:path';

import { expect, it } from 'vitest';

import { AppError } from '../../platform/errors.ts';
import { gatewayFileJsonSchema } from './gateway-file.schema.ts';
import { readGatewayFile } from './gateway-file.ts';
import { createHeaderRules } from './subgraph-rules.ts';

const read = (text: string, variables = {}) =>
  readGatewayFile({ path: '/etc/gateway.yaml', text, variables }, ['shop', 'stock']);

/** What is said of a file with mistakes. */
function mistakesIn(text: string, variables = {}): string {
  try {
    read(text, variables);
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
  throw new Error('no mistakes');
}

it('reads YAML and JSON alike, and an empty file as no settings', () => {
  const inYaml = read('subgraphs:\n  shop: { retries: 2 }\nintrospection: false\n');
  expect(inYaml).toMatchObject({ subgraphs: { shop: { retries: 2 } }, introspection: false });
  expect(read('{"subgraphs":{"shop":{"retries":2}},"introspection":false}')).toEqual(inYaml);
  expect(read('')).toMatchObject({ subgraphs: {} });
});

it.each([
  [
    'a name that the supergraph lacks',
    'subgraphs:\n  shpo: {}',
    'line 2: subgraphs.shpo is no subgraph of the supergraph: it has shop, stock',
  ],
  [
    'a variable that is not set',
    'headers:\n  - insert: x-key\n    value: ${KEY}',
    'line 3: headers[0].value refers to ${KEY}, which is not set',
  ],
  ['a name twice', 'errors: whole\nerrors: codes', 'line 2: the file is no YAML: Map keys must be unique'],
  ['what is no YAML', 'headers: [', 'is no YAML'],
  [
    'a rule of no kind',
    'headers:\n  - send: x',
    'line 2: headers[0] must be one of { propagate, as }, { insert, value }, { claim, as } and { remove }',
  ],
  [
    'a word that is none of three',
    'subgraphs:\n  shop:\n    errors: all',
    'line 3: subgraphs.shop.errors must be whole, codes or masked',
  ],
  [
    'a variable of a subgraph that is not set',
    'subgraphs:\n  shop:\n    headers:\n      - insert: x-key\n        value: ${KEY}',
    'line 5: subgraphs.shop.headers[0].value refers to ${KEY}, which is not set',
  ],
  [
    'a variable of a subscription that is not set',
    'subgraphs:\n  shop:\n    subscriptions:\n      protocol: graphql-ws\n      connectionParams:\n        - insert: x\n          value: ${toString}',
    'subgraphs.shop.subscriptions.connectionParams[0].value refers to ${toString}, which is not set',
  ],
  [
    'a certificate that is not there',
    'subgraphs:\n  shop:\n    tls:\n      ca: none/of.pem',
    "line 4: subgraphs.shop.tls.ca names a file that can't be read: ENOENT: no such file or directory, open '/etc/none/of.pem'",
  ],
  [
    'a value that no header may have',
    'headers: [{ insert: x-key, value: "a\\nb" }]',
    'headers[0].value has a line break or another letter that no header may have',
  ],
  [
    'a header of answers that is none',
    'responseHeaders: [{ propagate: x, as: "no name" }]',
    'responseHeaders[0].as must be the name of a header',
  ],
  [
    'a header of answers that is about their own body',
    'responseHeaders: [{ propagate: Content-Length }]',
    'responseHeaders[0].propagate is a header that the gateway writes itself: choose another',
  ],
  ['what the file does not have', 'odd: 1', 'line 1: odd is no field of the file: remove it'],
  ['what a subgraph does not have', 'subgraphs:\n  shop: { odd: 1 }', 'shop.odd is no field of a subgraph'],
  ['what a part of it does not have', 'subgraphs:\n  shop:\n    tls: { odd: 1 }', 'odd is no field of tls'],
  ['what limits do not have', 'limits: { odd: 1 }', 'limits.odd is no field of limits'],
  [
    'what authentication does not have',
    'authentication: { issuers: [{ issuer: a, jwks: "https://a.example" }], odd: 1 }',
    'authentication.odd is no field of authentication',
  ],
  [
    'what an issuer does not have',
    'authentication: { issuers: [{ issuer: a, jwks: "https://a.example", odd: 1 }] }',
    'odd is no field of an issuer',
  ],
  [
    'a signature that is none, or needs a shared secret',
    'authentication: { issuers: [{ issuer: a, jwks: "https://a.example", algorithms: [RS256, hs256] }] }',
    'algorithms[1] must be one of RS256, RS384,',
  ],
  [
    'what a policy does not have',
    'authentication: { issuers: [{ issuer: a, jwks: "https://a.example" }], policies: { p: { claim: a, odd: 1 } } }',
    'odd is no field of a policy',
  ],
])('names %s with its line, its field and the remedy', (_, text, mistake) => {
  expect(mistakesIn(text)).toContain(mistake);
});

it.each(['k\n', 'a\0b', '鍵'])(
  'names the value %j of a variable that no header may have, and does not tell it',
  (KEY) => {
    const mistakes = mistakesIn('headers:\n  - insert: x-key\n    value: a-${KEY}', { KEY });
    expect(mistakes).toContain(
      'line 3: headers[0].value has a line break or another letter that no header may have',
    );
    expect(mistakes).not.toContain(KEY);
  },
);

it.each(['ftp://shop.example', 'http://ann@shop.example', 'http://:word@shop.example', 'no address'])(
  'takes no %s for the address of a subgraph',
  (url) => {
    const mistake = 'subgraphs.shop.url must be an address that begins with';
    expect(mistakesIn(`subgraphs:\n  shop: { url: "${url}" }`)).toContain(mistake);
  },
);

it('fills variables in wherever a value is inserted, and reads certificates from where the file is', () => {
  const rule = '{ insert: x-key, value: "a-${KEY}-${OTHER}" }';
  const name = path.basename(import.meta.filename);
  const file = {
    path: path.join(import.meta.dirname, 'gateway.yaml'),
    text: [
      `headers: [${rule}, { propagate: x-tenant }]`,
      'subgraphs:',
      '  shop:',
      `    headers: [${rule}]`,
      `    subscriptions: { protocol: graphql-ws, connectionParams: [${rule}] }`,
      `    tls: { ca: ${name} }`,
      '  stock: { retries: 1 }',
    ].join('\n'),
    variables: { KEY: 'k', OTHER: '' },
  };
  const filled = { insert: 'x-key', value: 'a-k-' };
  const { headers, subgraphs } = readGatewayFile(file, ['shop', 'stock']);
  expect(headers).toEqual([filled, { propagate: 'x-tenant' }]);
  expect(subgraphs).toMatchObject({
    shop: {
      headers: [filled],
      subscriptions: { protocol: 'graphql-ws', connectionParams: [filled] },
      tls: { ca: readFileSync(import.meta.filename, 'utf8') },
    },
    stock: { retries: 1 },
  });
  expect(subgraphs?.['stock']?.tls).toBeUndefined();
});

it('takes names of headers in letters of either case', () => {
  const text =
    'responseHeaders: [{ propagate: X-Cookie, as: Set-Cookie }]\nheaders: [{ propagate: X-Tenant }]';
  expect(readGatewayFile({ path: '/etc/gateway.yaml', text, variables: {} }, [])).toMatchObject({
    responseHeaders: [{ propagate: 'x-cookie', as: 'set-cookie' }],
    headers: [{ propagate: 'x-tenant' }],
  });
});

it('applies rules for headers in their order', () => {
  const apply = createHeaderRules([
    { propagate: 'x-tenant' },
    { propagate: 'cookie', as: 'x-session' },
    { propagate: 'x-absent' },
    { insert: 'x-tenant', value: 'fixed' },
    { remove: 'authorization' },
    { claim: 'sub', as: 'x-user' },
    { claim: 'roles', as: 'x-roles' },
    { claim: 'broken', as: 'x-broken' },
  ]);
  const context = {
    headers: { 'x-tenant': 'acme', cookie: 'c=1' },
    caller: { claims: { sub: 'ada', roles: ['a', 'b'], broken: 'x\r\ny: z' } },
  } as never;
  expect(apply(context, { authorization: 'Bearer x' })).toEqual({
    'x-tenant': 'fixed',
    'x-session': 'c=1',
    'x-user': 'ada',
    'x-roles': '["a","b"]',
  });
});

it('reads every example of docs/gateway.md', () => {
  const page = readFileSync(path.join(import.meta.dirname, '../../docs/gateway.md'), 'utf8');
  const examples = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, text]) => text ?? '');
  const configurations = examples.filter((text) => !/^ +schema: /m.test(text));
  expect(configurations.length).toBeGreaterThan(4);
  const subgraphs = ['media', 'workflow', 'accounts', 'reviews'];
  for (const text of configurations)
    readGatewayFile({ path: '/etc/gateway.yaml', text, variables: { GATEWAY_KEY: 'k' } }, subgraphs);
});

it('has the form that editors are told', async () => {
  const file = path.join(import.meta.dirname, '../../schema/gateway-config.json');
  await expect(`${JSON.stringify(gatewayFileJsonSchema(), null, 2)}\n`).toMatchFileSnapshot(file);
});
