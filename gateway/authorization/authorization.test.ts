import {
  buildSchema,
  type ExecutionResult,
  type GraphQLObjectType,
  GraphQLError,
  parse,
  print,
} from 'graphql';
import { describe, expect, it } from 'vitest';

import { type Caller, internalCaller } from '../../platform/access/caller.ts';
import { allDenied, withDenials } from './denied-fields.ts';
import { createAuthorization } from './permitted-operation.ts';
import { createRights, readSecurityRules, type Rights } from './security-rules.ts';

const SDL = `
  schema
    @link(url: "https://specs.apollo.dev/authenticated/v0.1", as: "signedIn")
    @link(url: "https://specs.apollo.dev/requiresScopes/v0.1")
    @core(feature: "https://specs.apollo.dev/policy/v0.1")
    @link(url: "https://specs.other.dev/authenticated/v0.1", as: "unknown")
  { query: Query mutation: Mutation subscription: Subscription }
  directive @link(url: String, as: String) repeatable on SCHEMA
  directive @core(feature: String) repeatable on SCHEMA
  directive @signedIn on FIELD_DEFINITION | OBJECT | INTERFACE | SCALAR | ENUM
  directive @requiresScopes(scopes: [[String!]!]!) on FIELD_DEFINITION | OBJECT | INTERFACE | SCALAR | ENUM
  directive @policy(policies: [[String!]!]!) on FIELD_DEFINITION | OBJECT | INTERFACE | SCALAR | ENUM
  directive @unknown on FIELD_DEFINITION
  interface Named { name: String secret: Money }
  type Query {
    open: Item!
    items: [Item!]
    own: Item! @signedIn
    either: Int @requiresScopes(scopes: [["a", "b"], ["c"]])
    staff: Int @policy(policies: [["staff"]])
    named: Named
    box: Box
    any: Int @unknown
  }
  type Mutation { make: Int @signedIn }
  type Subscription { told: Item @signedIn other: Item }
  type Item implements Named { name: String @requiresScopes(scopes: [["names"]]) secret: Money inner: Item! }
  type Other implements Named { name: String secret: Money }
  type Box @signedIn { id: ID }
  scalar Money @policy(policies: [["staff", "money"]])
`;
const schema = buildSchema(SDL);
const rules = readSecurityRules(SDL);
const rights = (given: Partial<{ [Name in keyof Rights]: Rights[Name] | string[] }> = {}): Rights => ({
  isAuthenticated: given.isAuthenticated === true,
  scopes: new Set(given.scopes ?? []),
  policies: new Set(given.policies ?? []),
});
const SIGNED_IN = rights({ isAuthenticated: true });

describe('the rules of a supergraph', () => {
  const needs = (type: string, field: string) =>
    rules.of(schema, schema.getType(type) as GraphQLObjectType, field).map(({ key }) => key);

  it('go by the directives as it calls them, on fields, on types, and on what fields are of', () => {
    expect(needs('Query', 'own')).toEqual(['authenticated']);
    expect(needs('Query', 'either')).toEqual(['requiresScopes [["a","b"],["c"]]']);
    expect(needs('Query', 'staff')).toEqual(['policy [["staff"]]']);
    expect(needs('Query', 'box')).toEqual(['authenticated']);
    expect(needs('Box', 'id')).toEqual(['authenticated']);
    expect(needs('Item', 'secret')).toEqual(['policy [["staff","money"]]']);
    expect([needs('Query', 'open'), needs('Query', 'any'), needs('Query', 'none')]).toEqual([[], [], []]);
    // Asked again it is the same.
    expect(needs('Query', 'own')).toEqual(['authenticated']);
    expect([...rules.policies].toSorted()).toEqual(['money', 'staff']);
    expect([rules.isEmpty, readSecurityRules('type Query { a: Int }').isEmpty]).toEqual([false, true]);
  });

  it('ask of an interface what any of its objects needs, and of what a lists says all of one', () => {
    expect(needs('Named', 'name')).toEqual(['requiresScopes [["names"]]']);
    const [either] = rules.of(schema, schema.getQueryType() as GraphQLObjectType, 'either');
    const met = [[], ['a'], ['a', 'b'], ['c'], ['b', 'x']].map((scopes) => either?.isMet(rights({ scopes })));
    expect(met).toEqual([false, false, true, true, false]);
    const [staff] = rules.of(schema, schema.getQueryType() as GraphQLObjectType, 'staff');
    expect([
      staff?.isMet(rights({ scopes: ['staff'] })),
      staff?.isMet(rights({ policies: ['staff'] })),
    ]).toEqual([false, true]);
  });
});

describe('the rights of a caller', () => {
  const user: Caller = { kind: 'user', id: 'usr_1', scopes: ['admin'], traceId: 't', address: null };
  const of = (caller: Caller, options: Parameters<typeof createRights>[0] = {}) => {
    const { isAuthenticated, scopes, policies } = createRights(options)(caller);
    return [isAuthenticated, [...scopes], [...policies]];
  };

  it('are none without a credential, and those of its scopes with one of Kiln', () => {
    expect(of({ ...user, kind: 'anonymous', claims: { scope: 'a' } })).toEqual([false, [], []]);
    expect(of(user)).toEqual([true, ['admin'], []]);
    expect(of(internalCaller('t'))).toEqual([true, ['service'], []]);
  });

  it('are what its claims say', () => {
    const claims = {
      scope: 'a b',
      roles: ['c d', 7],
      level: 3,
      org: { id: 1 },
      off: false,
      empty: '',
      none: null,
    };
    expect(of({ ...user, claims })).toEqual([true, ['a', 'b'], []]);
    expect(of({ ...user, claims }, { scopesClaim: 'roles' })).toEqual([true, ['c', 'd', '7'], []]);
    const policies = {
      any: { claim: 'level' },
      one: { claim: 'level', anyOf: ['2', '3'] },
      other: { claim: 'level', anyOf: ['4'] },
      inList: { claim: 'roles', anyOf: ['7'] },
      object: { claim: 'org', anyOf: ['{"id":1}'] },
      off: { claim: 'off' },
      empty: { claim: 'empty' },
      none: { claim: 'none' },
      missing: { claim: 'missing' },
    };
    expect(of({ ...user, claims }, { policies })[2]).toEqual(['any', 'one', 'inList', 'object']);
    const find = createRights({});
    const caller = { ...user, claims };
    expect(find(caller)).toBe(find(caller));
  });
});

describe('an operation', () => {
  const authorization = createAuthorization(rules);
  const permit = (query: string, given = rights(), operationName?: string) => {
    const made = authorization.permit({ schema, document: parse(query), operationName }, given);
    return (
      made && {
        query: print(made.document).replaceAll(/\s+/g, ' '),
        denied: made.denied.map(({ path, isNonNull }) => `${path.join('.')}${isNonNull ? '!' : ''}`),
        isRefused: made.isRefused,
      }
    );
  };

  it('is as it is when its caller may see all of it', () => {
    expect(permit('{ open { inner { __typename } } any __typename }')).toBeNull();
    expect(permit('{ own { __typename } }', SIGNED_IN)).toBeNull();
  });

  it('loses what its caller may not see, by its names in the answer', () => {
    expect(permit('{ mine: own { name } open { n: name inner { secret } } }', SIGNED_IN)).toEqual({
      query: '{ mine: own { __typename } open { inner { __typename } } }',
      denied: ['mine.name', 'open.n', 'open.inner.secret'],
      isRefused: false,
    });
    expect(permit('{ own { name } open { __typename } }')).toEqual({
      query: '{ open { __typename } }',
      denied: ['own!'],
      isRefused: false,
    });
  });

  it('loses it in fragments too, which stand where they were spread with their conditions', () => {
    const text = `query ($on: Boolean!) { named { ...F @include(if: $on) ... on Other { secret name } ... { __typename } ...None } }
      fragment F on Item { name inner { __typename } }`;
    expect(permit(text)).toEqual({
      query:
        'query ($on: Boolean!) { named { ... on Item @include(if: $on) { inner { __typename } } ' +
        '... on Other { name } ... { __typename } } }',
      denied: ['named.name', 'named.secret'],
      isRefused: false,
    });
  });

  it('is refused as a subscription of which nothing is left', () => {
    expect(permit('subscription { told { __typename } }')?.isRefused).toBe(true);
    expect(permit('subscription { other { name } }')).toMatchObject({
      isRefused: false,
      denied: ['other.name'],
    });
    expect(permit('mutation { make }')).toMatchObject({ isRefused: false, denied: ['make'] });
    expect(permit('query A { any } query B { own { __typename } }', rights(), 'A')).toBeNull();
    expect(permit('query A { any } query B { own { __typename } }', rights(), 'B')?.denied).toEqual(['own!']);
  });

  it('is made once for the same lack of rights, whoever lacks them', () => {
    const document = parse('{ own { name } staff }');
    const made = (given: Rights) =>
      authorization.permit({ schema, document, operationName: undefined }, given);
    const nobody = made(rights());
    expect(made(rights({ scopes: ['other'] }))).toBe(nobody);
    expect(made(SIGNED_IN)).not.toBe(nobody);
    expect(made(SIGNED_IN)?.denied).toHaveLength(2);
    expect(made(rights())).toBe(nobody);
  });
});

describe('an answer', () => {
  const denied = (path: string, isNonNull = false) => ({ path: path.split('.'), isNonNull });
  const told = ({ errors, ...rest }: ExecutionResult) => ({
    ...rest,
    errors: errors?.map((error) => `${error.path?.join('.')} ${String(error.extensions['code'])}`),
  });
  const CODE = 'UNAUTHORIZED_FIELD_OR_TYPE';

  it('has an error for each null that stands for a field which its caller may not see', () => {
    const data = { items: [{ a: null }, { a: undefined }, null, { a: 1 }], own: null };
    expect(told(withDenials({ data }, [denied('items.a'), denied('own.b.c'), denied('own')]))).toEqual({
      data,
      errors: [`items.0.a ${CODE}`, `items.1.a ${CODE}`, `own ${CODE}`],
    });
    // The null of a field that may not be null has taken what it stood in.
    expect(told(withDenials({ data: { items: [null] } }, [denied('items.a.b', true)])).errors).toEqual([
      `items.0.a.b ${CODE}`,
    ]);
    expect(told(withDenials({ data: null }, [denied('own', true), denied('own', true)])).errors).toEqual([
      `own ${CODE}`,
    ]);
    expect(withDenials({ data: { own: 1, text: 'x' } }, [denied('none'), denied('text.length')])).toEqual({
      data: { own: 1, text: 'x' },
    });
  });

  it('keeps what else is said of it but what the gateway notes for itself', () => {
    const error = new GraphQLError('no');
    const extensions = { valueCompletion: [], cost: 1 };
    expect(withDenials({ data: { own: null }, errors: [error], extensions }, [denied('own')])).toMatchObject({
      extensions: { cost: 1 },
      errors: [error, { message: 'Unauthorized field or type' }],
    });
    expect(withDenials({ data: {}, extensions: { valueCompletion: [] } }, [])).toEqual({ data: {} });
    expect(withDenials({ data: {}, errors: [error] }, []).errors).toEqual([error]);
  });

  it('has fifty of these errors at most', () => {
    const items = Array.from({ length: 80 }, () => ({ a: null }));
    expect(withDenials({ data: { items } }, [denied('items.a')]).errors).toHaveLength(50);
    const many = Array.from({ length: 80 }, (_, index) => denied(`a${index}`));
    expect(allDenied(many).errors).toHaveLength(50);
    expect(told(allDenied([denied('a.b')]))).toEqual({ errors: [`a.b ${CODE}`] });
  });
});
