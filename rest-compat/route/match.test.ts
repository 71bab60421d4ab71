import { parse } from 'graphql';
import { describe, expect, it } from 'vitest';

import { localRoute, route } from './define-route.ts';
import { createMatcher } from './match.ts';
import { path } from './params.ts';
import type { Method, Route } from './route.ts';

function createRoute(method: Method, at: string): Route {
  const params = at.includes('{') ? { id: path.text() } : {};
  return localRoute({ method, path: at, params, rateClass: 'read', rule: 'public', reply: () => ({}) });
}

const status = createRoute('GET', '/tasks/{id}');
const health = createRoute('GET', '/tasks/health');
const remove = createRoute('DELETE', '/tasks/{id}');
const root = createRoute('GET', '/');
const match = createMatcher([status, health, remove, root]);

describe('the table of paths', () => {
  it('prefers a static path to one with parameters, whatever their order', () => {
    expect(match('GET', '/tasks/health')).toEqual({ route: health, pathParams: {} });
    expect(match('GET', '/tasks/7')).toEqual({ route: status, pathParams: { id: '7' } });
  });

  it('takes a trailing slash, and HEAD for GET', () => {
    expect(match('HEAD', '/tasks/7/')).toEqual({ route: status, pathParams: { id: '7' } });
    expect(match('GET', '/')).toEqual({ route: root, pathParams: {} });
  });

  it('leaves segments encoded, so that a slash inside a value stays inside', () => {
    expect(match('DELETE', '/tasks/a%2Fb')).toEqual({ route: remove, pathParams: { id: 'a%2Fb' } });
  });

  it('does not take HEAD for a GET that changes something', () => {
    const change = parse(' mutation Change { change }');
    const spec = { method: 'GET', path: '/change', params: {}, rateClass: 'read' } as const;
    const changing = route(change)({ ...spec, variables: () => ({}), reply: () => ({}) });
    const matchChange = createMatcher([changing]);
    expect(matchChange('HEAD', '/change')).toEqual({ allow: ['GET'], sibling: changing });
    expect(matchChange('GET', '/change')).toEqual({ route: changing, pathParams: {} });
  });

  it('says which methods a known path takes', () => {
    expect(match('PATCH', '/tasks/7')).toEqual({ allow: ['GET', 'HEAD', 'DELETE'], sibling: status });
  });

  it('knows nothing of other paths, of empty segments, or of the literal pattern', () => {
    expect(match('GET', '/tasks')).toBeNull();
    expect(match('GET', '/tasks//')).toBeNull();
    expect(match('GET', '/Tasks/7')).toBeNull();
    expect(match('GET', '/tasks/7/8')).toBeNull();
    expect(match('GET', '/tasks/{id}')).toEqual({ route: status, pathParams: { id: '{id}' } });
  });

  it('refuses a table with the same path and method twice', () => {
    expect(() => createMatcher([root, createRoute('GET', '/')])).toThrow('two routes for GET /');
  });
});
