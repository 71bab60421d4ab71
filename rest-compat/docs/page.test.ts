import { describe, expect, it } from 'vitest';

import { buildOpenApi } from '../openapi/openapi.ts';
import { sections } from '../tables.ts';
import { buildExample, type PlacedOperation } from './example.ts';
import { limitTexts, notation, typeName } from './schema.ts';
import { docsPage } from './served-pages.ts';

const links = { root: '.', document: 'openapi.json', other: { href: 'docs/workflow', text: 'the other' } };

describe.each(['media', 'workflow'] as const)('the page about the %s service', (service) => {
  const document = buildOpenApi(service, sections);
  const page = docsPage({ document, links, baseUrl: 'http://kiln.test' });
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );

  it('tells every operation with each of its inputs and a command', () => {
    expect(operations.length).toBeGreaterThan(25);
    for (const placed of operations) {
      const { operation } = placed;
      const [, article = ''] = page.split(`<article id="${operation.operationId}">`);
      const [own = ''] = article.split('</article>');
      const bodies = Object.values(operation.requestBody?.content ?? {});
      const fields = bodies.flatMap(({ schema }) => Object.keys(schema['properties'] ?? {}));
      const names = [...(operation.parameters ?? []).map(({ name }) => name), ...fields];
      for (const name of names) expect(own).toContain(`<th scope="row"><code>${name}</code></th>`);
      expect(own).toContain('<pre tabindex="0">curl');
      expect(own.includes('>deprecated</strong>')).toBe(operation.deprecated === true);
      expect(own.includes('>added by Kiln</strong>')).toBe(operation['x-extension'] === true);
    }
  });

  it('tells the bounds, defaults and choices of inputs', () => {
    const told =
      service === 'media' ? ['at least 1; at most 1000', 'moved into 1 to 3600'] : ['moved into 1 to 1000'];
    for (const words of told) expect(page).toContain(`<td>${words}`);
    const types =
      service === 'media' ? ['file', 'file or address', 'integer'] : ['list of string', 'address'];
    for (const type of types) expect(page).toMatch(new RegExp(`</th><td>[^<]*</td><td>${type}</td>`));
    expect(page).toMatch(service === 'media' ? /<td><code>9:16<\/code><\/td>/ : /one of user_request, /);
  });

  it('leads nowhere but to its own places and the documents', () => {
    const targets = [...page.matchAll(/href="([^"]*)"/g)].map(([, target = '']) => target);
    const ids = new Set([...page.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => `#${id}`));
    const elsewhere = [...new Set(targets.filter((target) => !ids.has(target)))];
    expect(elsewhere.toSorted()).toEqual(['./console/', 'docs/workflow', 'openapi.json']);
  });

  it('has a form for every operation that a page can send, with each of its inputs', () => {
    for (const { method, path, operation } of operations) {
      const [, article = ''] = page.split(`<article id="${operation.operationId}">`);
      const [, form = ''] = article.split('<form ');
      const [[type, body] = ['', undefined]] = Object.entries(operation.requestBody?.content ?? {});
      if (type === '*/*') continue;
      expect(form.startsWith(`data-method="${method}" data-path="${path}" data-type="${type}"`)).toBe(true);
      const names = [
        ...(operation.parameters ?? []).map(({ name }) => name),
        ...Object.keys(body?.schema['properties'] ?? {}),
      ];
      for (const name of names) expect(form.split('</form>')[0]).toContain(`<input name="${name}"`);
    }
  });

  it('names no operation and no place twice', () => {
    const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);
    expect(ids.length).toBeGreaterThan(operations.length);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('has commands whose files are of a type that is accepted', () => {
    const types: Readonly<Record<string, string>> = { mp4: 'video', mp3: 'audio', png: 'image' };
    for (const placed of operations) {
      const command = buildExample(placed, '');
      const [body] = Object.values(placed.operation.requestBody?.content ?? {});
      for (const [name, schema] of Object.entries(body?.schema['properties'] ?? {})) {
        const accepted = (schema as { readonly 'x-accepted-types'?: readonly string[] })['x-accepted-types'];
        const [, ending = ''] = new RegExp(`['" ]${name}=@\\w+\\.(\\w+)`).exec(command) ?? [];
        if (accepted === undefined || ending === '') continue;
        expect(accepted.map((type) => type.split('/')[0])).toContain(types[ending]);
      }
    }
  });

  it('has commands that send what is required', () => {
    for (const placed of operations) {
      const command = buildExample(placed, '');
      const needed = (placed.operation.parameters ?? []).filter(
        ({ required, in: place }) => required && place === 'query',
      );
      expect(needed.filter(({ name }) => !command.includes(`${name}=`))).toEqual([]);
      expect(command).not.toMatch(/undefined|null|\{\w+\}/);
      // Nobody shall lose a bundled template by trying an example.
      expect(command).not.toMatch(/-X DELETE '\S*\/(?:poster|tea|[1-9])'/);
    }
  });
});

it('the commands of purchases name payments as they are called, and say what is made', () => {
  const { paths } = buildOpenApi('workflow', sections);
  const writeCommand = (method: 'get' | 'post', path: string) => {
    const operation = paths[path]?.[method];
    if (operation === undefined) throw new Error(`there is no ${path}`);
    return buildExample({ method: method.toUpperCase(), path, operation }, '');
  };
  expect(writeCommand('get', '/payment/{paymentId}')).toMatch(/\/payment\/pay_[0-9a-z]+'$/);
  expect(writeCommand('get', '/payment/success')).toContain('payment_id=pay_');
  const checkout = writeCommand('post', '/payment/checkout/{templateCode}');
  expect(checkout).toContain('{"userId":"user-1","metadata":{"prompt":"a fox"}}');
});

it('schemas are written in a short notation, and inputs in words', () => {
  const object = { type: 'object', properties: { a: { type: 'integer' }, b: {} }, required: ['a'] };
  for (const [schema, text] of [
    [{ $ref: '#/components/schemas/Task' }, 'Task'],
    [{ const: true }, 'true'],
    [{ enum: ['a', 1] }, '"a" | 1'],
    [{ anyOf: [{ type: 'string' }, { type: 'null' }, { type: 'string' }] }, 'string | null'],
    [{ allOf: [{ $ref: '#/A' }, { type: 'object' }] }, 'A & object'],
    [{ type: 'array', items: { type: 'integer' } }, '[integer]'],
    [{ type: 'array' }, '[anything]'],
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ type: 'string', format: 'date-time' }, 'time'],
    [{ type: 'string', format: 'uri' }, 'string'],
    [object, '{ a: integer, b?: anything }'],
    [{ ...object, additionalProperties: true }, '{ a: integer, b?: anything, ... }'],
  ] as const)
    expect(notation(schema)).toBe(text);
  for (const [schema, word] of [
    [{ anyOf: [] }, 'file or address'],
    [{ contentMediaType: 'application/json' }, 'JSON as text'],
    [{ contentMediaType: 'application/octet-stream' }, 'file'],
    [{ type: 'string', format: 'uri' }, 'address'],
    [{ type: 'array', items: { type: 'string' } }, 'list of string'],
    [{ type: ['integer', 'null'] }, 'integer or null'],
    [{ type: 'boolean' }, 'boolean'],
  ] as const)
    expect(typeName(schema)).toBe(word);
  const bounded = { minimum: 0, maximum: 9, 'x-moved-into': [1, 2], enum: ['a'], 'x-known-values': ['b'] };
  const taken = { 'x-accepted-types': ['image/*'], 'x-aliases': ['c', 'd'], 'x-extension': true };
  expect(limitTexts({ ...bounded, ...taken })).toEqual([
    'at least 0',
    'at most 9',
    'moved into 1 to 2',
    'one of a',
    'known: b',
    'only image/*',
    'also taken as c, d',
    'added by Kiln',
  ]);
  expect(limitTexts({ 'x-extension': false })).toEqual([]);
});

it('a command has the required inputs alone, in their places and of their types', () => {
  const command = (method: string, path: string, operation: object) =>
    buildExample({ method, path, operation: operation as PlacedOperation['operation'] }, 'http://k');
  const parameters = [
    { name: 'mood', in: 'query', required: true, schema: { type: 'string', enum: ["it's", 'other'] } },
    { name: 'size', in: 'query', required: true, schema: { type: 'integer', minimum: 3 } },
    { name: 'left', in: 'query', required: false, schema: { type: 'string' } },
    { name: 'task_id', in: 'path', required: true, schema: { type: 'string' } },
  ];
  expect(command('GET', '/a/{task_id}', { parameters })).toMatch(
    /^curl 'http:\/\/k\/a\/[0-9a-f-]{36}\?mood=it'\\''s&size=3'$/,
  );
  const schema = {
    properties: {
      prompt: { type: 'string' },
      size: { type: 'number', default: 2 },
      is_big: { type: 'boolean' },
      list: { type: 'array' },
      image_url: { type: 'string' },
      image_file: { contentMediaType: 'application/octet-stream' },
      left: { type: 'string' },
    },
    required: ['prompt', 'size', 'is_big', 'list'],
    allOf: [{ anyOf: [{ required: ['image_url'] }, { required: ['image_file'] }] }],
  };
  const body = (type: string) => ({ requestBody: { content: { [type]: { schema } } } });
  expect(command('POST', '/b', body('application/json'))).toBe(
    `curl -X POST 'http://k/b' \\\n  -H 'content-type: application/json' \\\n  -d '{"prompt":"a lighthouse at dawn","size":2,"is_big":true,"list":["poster"],"image_file":"@image.png"}'`,
  );
  expect(command('POST', '/b', body('multipart/form-data')).split(' \\\n  ')).toEqual([
    "curl -X POST 'http://k/b'",
    "-F 'prompt=a lighthouse at dawn'",
    "-F 'size=2'",
    "-F 'is_big=true'",
    "-F 'list=list'",
    "-F 'image_file=@image.png'",
  ]);
  expect(command('POST', '/b', body('application/x-www-form-urlencoded'))).toContain(
    "--data-urlencode 'size=2'",
  );
  expect(command('POST', '/b', body('*/*'))).toContain('--data-binary @event.json');
  const optional = { properties: { first: { type: 'string' }, other: { type: 'string' } } };
  const content = { 'application/json': { schema: optional } };
  expect(command('PUT', '/c', { requestBody: { content } })).toContain(`-d '{"first":"first"}'`);
});
