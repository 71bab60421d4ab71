import { describe, expect, it } from 'vitest';

import { buildOpenApi } from '../openapi/openapi.ts';
import { sections } from '../tables.ts';
import { exampleOf } from './example.ts';
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

  it('has commands that send what is required', () => {
    for (const placed of operations) {
      const command = exampleOf(placed, '');
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
  const commandOf = (method: 'get' | 'post', path: string) => {
    const operation = paths[path]?.[method];
    if (operation === undefined) throw new Error(`there is no ${path}`);
    return exampleOf({ method: method.toUpperCase(), path, operation }, '');
  };
  expect(commandOf('get', '/payment/{paymentId}')).toMatch(/\/payment\/pay_[0-9a-z]+'$/);
  expect(commandOf('get', '/payment/success')).toContain('payment_id=pay_');
  const checkout = commandOf('post', '/payment/checkout/{templateCode}');
  expect(checkout).toContain('{"userId":"user-1","metadata":{"prompt":"a fox"}}');
});
