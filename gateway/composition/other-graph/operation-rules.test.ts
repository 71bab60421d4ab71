import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { buildSchema, parse } from 'graphql';
import { afterAll, describe, expect, it } from 'vitest';

import type { Caller } from '../../../platform/access/caller.ts';
import { silentLogger } from '../../../platform/process/logger.ts';
import { operationContext } from '../../federation/operation/operation-context.ts';
import { authorizeBy, costsBy, openPersisted } from './operation-rules.ts';

const SDL = `
  schema @link(url: "https://specs.apollo.dev/policy/v0.1") { query: Query }
  directive @link(url: String) repeatable on SCHEMA
  directive @policy(policies: [[String!]!]!) on FIELD_DEFINITION
  type Query { open: Int staff: Int @policy(policies: [["staff"]]) items: [Item] }
  type Item { name: String }
`;
const schema = buildSchema(SDL);
const issuers = { issuers: [] } as never;

describe('what callers may see', () => {
  it('is everything where the supergraph says nothing, and must be known where it does', () => {
    expect(authorizeBy('type Query { a: Int }')).toBeUndefined();
    expect(() => authorizeBy(SDL)).toThrow('name the issuers of tokens in authentication of --config');
    expect(() => authorizeBy(SDL, { authentication: issuers })).toThrow('who has staff');
  });

  it('is what their claims allow', () => {
    const authentication = { issuers: [], policies: { staff: { claim: 'staff' } } } as never;
    const authorize = authorizeBy(SDL, { authentication });
    const caller: Caller = { kind: 'user', id: 'u', scopes: [], traceId: 't', address: null };
    const ask = (claims: Record<string, unknown>) => {
      const query = '{ open staff }';
      const context = { caller: { ...caller, claims } } as never;
      return authorize?.({ query, variables: {}, context }, parse(query), schema);
    };
    expect(ask({ staff: true })).toBeNull();
    const denied = ask({});
    expect(denied?.refused).toBeUndefined();
    expect(denied?.complete({ data: { open: 1, staff: null } }).errors?.[0]?.path).toEqual(['staff']);
  });
});

describe('what operations cost', () => {
  const warnings: unknown[] = [];
  const logger = { ...silentLogger(), warn: (fields: object | string) => void warnings.push(fields) };
  const operation = operationContext({
    schema,
    document: parse('query Mine { items { name } }'),
    operationName: undefined,
  });
  const result = { data: { items: [{ name: 'a' }] }, extensions: { x: 1 } };

  it('is counted where the configuration says so, and refused above its most', () => {
    expect(costsBy(SDL, {}, logger)).toBeUndefined();
    const costs = (max: number) => costsBy(SDL, { cost: { max } }, logger);
    expect(costs(10)?.refuse(operation, {})).toBeNull();
    expect(costs(9)?.refuse(operation, {})?.errors?.[0]?.extensions).toEqual({
      code: 'QUERY_REFUSED',
      limit: 'cost',
      allowed: 9,
      found: 10,
    });
    expect(costs(9)?.complete(operation, {}, result)).toBe(result);
    expect(warnings).toEqual([]);
  });

  it('is measured alone, and told in answers', () => {
    const costs = costsBy(SDL, { cost: { max: 4, mode: 'measure', listSize: 5, inAnswers: true } }, logger);
    expect(costs?.refuse(operation, {})).toBeNull();
    expect(warnings).toEqual([{ operation: 'Mine', estimated: 5, max: 4 }]);
    expect(costs?.complete(operation, {}, result)).toEqual({
      ...result,
      extensions: { x: 1, cost: { estimated: 5, actual: 1 } },
    });
  });
});

describe('persisted operations', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'kiln-rules-'));
  afterAll(() => rmSync(directory, { recursive: true }));

  it('are planned before anybody asks; those that do not fit are named', async () => {
    const operations = [
      { id: '1', body: '{ open }', name: 'Open' },
      { id: '2', body: '{ none }', name: 'None' },
    ];
    writeFileSync(path.join(directory, 'ops.json'), JSON.stringify({ operations }));
    const planned: unknown[] = [];
    const warnings: unknown[] = [];
    const logger = { ...silentLogger(), warn: (fields: object | string) => void warnings.push(fields) };
    const plan = (...asked: readonly unknown[]) => {
      planned.push(asked);
      if (asked[0] === '{ none }') throw new Error('no');
    };
    const parts = { config: { gatewayFile: { path: path.join(directory, 'kiln.yaml') } }, logger } as never;
    const open = (settings: object | undefined) =>
      openPersisted(parts, { persistedOperations: settings }, { plan } as never);
    expect(await open(undefined)).toBeUndefined();
    const persisted = await open({ manifest: 'ops.json' });
    expect(planned).toEqual([
      ['{ open }', 'Open'],
      ['{ none }', 'None'],
    ]);
    expect(warnings).toMatchObject([{ id: '2', name: 'None' }]);
    expect(persisted?.operations).toHaveLength(2);
    // Any text is taken, and none is kept, unless the file says otherwise.
    const named = { extensions: { persistedQuery: { sha256Hash: 'x' } } };
    expect(persisted?.findRefusal('{ other }')).toBeNull();
    expect(persisted?.expand(named)).toMatchObject({ extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED' } });
    const automatic = await open({ automatic: true, mode: 'log' });
    expect(automatic?.expand(named)).toMatchObject({ extensions: { code: 'PERSISTED_QUERY_NOT_FOUND' } });
  });
});
