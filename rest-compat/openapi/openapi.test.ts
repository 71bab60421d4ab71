import { describe, expect, it } from 'vitest';

import { sections } from '../tables.ts';
import { buildOpenApi } from './openapi.ts';

/** Everything that `$ref` says anywhere in a document. */
function referencesIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === '$ref' ? [String(inner)] : referencesIn(inner),
  );
}

describe.each(['media', 'workflow'] as const)('the OpenAPI document of the %s service', (service) => {
  const document = buildOpenApi(service, sections);
  const { schemas, responses } = document.components;
  const named = [
    ...Object.keys(schemas).map((name) => `#/components/schemas/${name}`),
    ...Object.keys(responses).map((name) => `#/components/responses/${name}`),
  ];

  it('refers to nothing that it does not have, and has nothing that it does not refer to', () => {
    expect([...new Set(referencesIn(document))].toSorted()).toEqual(named.toSorted());
  });

  it('says what every operation does', () => {
    const silent = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.values(methods).flatMap(({ summary = '' }) => (/^[A-Z].*\.$/.test(summary) ? [] : [path])),
    );
    expect(silent).toEqual([]);
  });

  it('tells every answer of every operation, with its form', () => {
    expect(Object.keys(document.paths).length).toBeGreaterThan(20);
    for (const methods of Object.values(document.paths)) {
      for (const { responses: answers } of Object.values(methods)) {
        expect(Object.keys(answers)).toEqual(expect.arrayContaining(['401', '429', '500', '503']));
        expect(answers).not.toHaveProperty('default');
      }
    }
  });
});

describe('the tables', () => {
  it('have these operations besides the documented ones', () => {
    const added = sections.flatMap(({ routes }) => routes.filter(({ extension }) => extension === true));
    expect(added.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'POST /api/comfy/async/submit/workflow/{name}',
      'POST /api/comfy/sync/execute/workflow/{name}',
      'POST /auth/idp/token',
      'POST /auth/{platform}/token',
      'GET /auth/idp/logout',
      'POST /auth/browser/token',
      'POST /auth/browser/refresh',
      'POST /auth/browser/revoke',
      'GET /.well-known/jwks.json',
      'GET /payment/sales',
      'GET /usage.csv',
    ]);
  });

  it('name in errors what their operations take, as they call it', () => {
    const routes = sections.flatMap((section) => section.routes);
    for (const [fieldNames, sharing] of Map.groupBy(routes, (route) => route.fieldNames)) {
      const taken = sharing.flatMap(({ params }) => Object.keys(params));
      expect(taken).toEqual(
        expect.arrayContaining(Object.values(fieldNames ?? {}).filter((name) => name !== '')),
      );
    }
  });

  it('say that the status of an error of the media service is false', () => {
    const { responses } = buildOpenApi('media', sections).components;
    const { schema } = responses['TooManyRequests']?.content?.['application/json'] ?? {};
    expect(schema?.['properties']).toMatchObject({ status: { const: false }, data: { type: 'null' } });
  });

  it('name the form of what each operation of the media service answers', () => {
    const routes = sections.filter(({ service }) => service === 'media').flatMap(({ routes }) => routes);
    expect(
      routes.filter(({ responseSchema }) => responseSchema === undefined).map(({ path }) => path),
    ).toEqual([]);
  });

  it('tell what `data` holds of each operation of the workflow service that has some', () => {
    const routes = sections.filter(({ service }) => service === 'workflow').flatMap(({ routes }) => routes);
    const without = routes.filter(
      ({ dataSchema, isBare, otherTypes }) =>
        dataSchema === undefined && isBare !== true && otherTypes === undefined,
    );
    expect(without.map(({ path }) => path)).toEqual([
      '/auth/idp/revoke',
      '/auth/browser/revoke',
      '/payment/webhook',
    ]);
  });
});
