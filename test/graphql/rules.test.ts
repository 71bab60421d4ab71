import { createHash } from 'node:crypto';

import {
  getNamedType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
  isNonNullType,
  isRequiredArgument,
  isRequiredInputField,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLSchema,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { decide, type Rule } from '../../platform/policy.ts';
import { operation, route, localRoute } from '../../rest-compat/route.ts';
import { builder as mediaBuilder } from '../../subgraphs/media/schema/builder.ts';
import { mediaSchema } from '../../subgraphs/media/schema/index.ts';
import { builder as workflowBuilder } from '../../subgraphs/workflow/schema/builder.ts';
import { workflowSchema } from '../../subgraphs/workflow/schema/index.ts';
import { startKiln, type KilnUnderTest } from '../kit/kiln.ts';
import { graphql, rest } from '../kit/requests.ts';

/** Every root field and every route says who may call it; one that does not is refused by the types. */

const RULES: readonly Rule[] = [
  'public',
  'proof',
  'anyone',
  'owner',
  'spend',
  'unpaid',
  'admin',
  'operator',
  'service',
];

interface RootField {
  readonly kind: 'query' | 'mutation' | 'subscription';
  readonly field: GraphQLField<unknown, unknown>;
}

function rootFields(schema: GraphQLSchema): readonly RootField[] {
  return (['query', 'mutation', 'subscription'] as const).flatMap((kind) => {
    const types = {
      query: schema.getQueryType(),
      mutation: schema.getMutationType(),
      subscription: schema.getSubscriptionType(),
    };
    return (
      Object.values(types[kind]?.getFields() ?? {})
        // What federation itself asks of a subgraph; never part of the public schema.
        .filter(({ name }) => !name.startsWith('_'))
        .map((field) => ({ kind, field }))
    );
  });
}

const all = [mediaSchema, workflowSchema].flatMap(rootFields);
const ruleOf = ({ field }: RootField) => field.extensions['rule'] as Rule;

describe('root fields', () => {
  it('all have a rule', () => {
    expect(all.length).toBeGreaterThan(20);
    for (const root of all)
      expect([root.field.name, RULES]).toEqual([root.field.name, expect.arrayContaining([ruleOf(root)])]);
  });

  it('that start paid work, change the catalog, or are for Kiln itself have the rule for it', () => {
    const named = Object.fromEntries(all.map((root) => [root.field.name, ruleOf(root)]));
    expect(named).toMatchObject({
      createTask: 'spend',
      generateImage: 'spend',
      describeImage: 'spend',
      executeTemplate: 'unpaid',
      startTask: 'service',
      createVideoTemplate: 'admin',
      updateVideoTemplate: 'admin',
      deleteVideoTemplate: 'admin',
      cancelTask: 'owner',
      deleteMedia: 'owner',
    });
  });

  it('without a rule do not pass the types, in either subgraph', () => {
    // Never called: only the types look at it.
    const unruled = () => {
      // @ts-expect-error -- a query needs a rule
      mediaBuilder.queryField('open', (t) => t.string({ resolve: () => 'x' }));
      // @ts-expect-error -- a mutation needs a rule
      mediaBuilder.mutationField('open', (t) => t.boolean({ resolve: () => true }));
      mediaBuilder.subscriptionField('open', (t) =>
        // @ts-expect-error -- a subscription needs a rule
        t.int({ subscribe: async function* () {}, resolve: () => 1 }),
      );
      // @ts-expect-error -- a query needs a rule
      workflowBuilder.queryField('open', (t) => t.string({ resolve: () => 'x' }));
      // @ts-expect-error -- and it must be one there is
      workflowBuilder.queryField('odd', (t) => t.string({ rule: 'everybody', resolve: () => 'x' }));
    };
    expect(unruled).toBeTypeOf('function');
  });
});

describe('routes', () => {
  it('without a document and without a rule do not pass the types', () => {
    const base = { method: 'GET', path: '/open', params: {}, rateClass: 'read' } as const;
    const unruled = () => {
      // @ts-expect-error -- a route that asks no root field needs a rule of its own
      localRoute({ ...base, reply: () => ({}) });
      // @ts-expect-error -- and it must be one there is
      localRoute({ ...base, rule: 'everybody', reply: () => ({}) });
      // @ts-expect-error -- a route that asks one has nothing to ask without variables
      route(operation<object, object>('query { health { time } }'))({ ...base, reply: () => ({}) });
    };
    expect(unruled).toBeTypeOf('function');
  });
});

describe('with REST_AUTH=required', () => {
  let kiln: KilnUnderTest;
  beforeAll(async () => {
    const hash = createHash('sha256').update('secret').digest('hex');
    kiln = await startKiln({ settings: { REST_AUTH: 'required', SERVICE_KEYS: `ops=${hash}` } });
  });
  afterAll(() => kiln.close());

  // An upload can't be written into a query; those that take one have a test of their own below.
  const takesUpload = ({ field }: RootField) =>
    field.args.some(({ type }) => getNamedType(type).name === 'Upload');
  const published = all.filter(
    (root) =>
      !['service', 'proof'].includes(ruleOf(root)) && root.kind !== 'subscription' && !takesUpload(root),
  );
  const withKey = { authorization: 'Bearer secret' };

  it.each(published.map((root) => [root.field.name, root] as const))(
    '%s lets in whom its rule lets in',
    async (name, root) => {
      const ask = (headers: Record<string, string>) =>
        graphql(
          kiln.url,
          `${root.kind} { ${name}${argumentsOf(root.field)}${selectionOf(root.field)} }`,
          {},
          headers,
        );
      const isPublic =
        decide(
          ruleOf(root),
          { kind: 'anonymous', id: 'anon', scopes: [], traceId: '', address: null },
          'required',
        ) === 'allow';
      const codes = (await ask({})).errors?.map(({ extensions }) => extensions['code']) ?? [];
      expect(codes.includes('UNAUTHENTICATED')).toBe(!isPublic);
      const known = (await ask(withKey)).errors?.map(({ extensions }) => extensions['code']) ?? [];
      expect(known).not.toContain('UNAUTHENTICATED');
      expect(known).not.toContain('FORBIDDEN');
      expect([...codes, ...known]).not.toContain('INTERNAL');
    },
  );

  it('fields that carry their own proof are asked by anybody, and refuse a wrong proof', async () => {
    const proofs = all.filter((root) => ruleOf(root) === 'proof').map(({ field }) => field.name);
    expect(proofs).toEqual(expect.arrayContaining(['refreshSession', 'revokeSession']));
    const refresh = 'mutation { refreshSession(refreshToken: "none") { expiresIn } }';
    for (const headers of [{}, withKey]) {
      const { errors } = await graphql(kiln.url, refresh, {}, headers);
      expect(errors?.[0]).toMatchObject({
        message: expect.stringContaining('refresh token'),
        extensions: { code: 'UNAUTHENTICATED' },
      });
    }
  });

  it.each([
    ['GET', '/', 200],
    ['GET', '/api/file/health', 200],
    ['GET', '/api/template/default', 200],
    ['GET', '/api/prompt/default', 200],
    ['GET', '/api/task/status/0199aaaa-0000-7000-8000-000000000000', 401],
    ['POST', '/api/task/create/task', 401],
    ['POST', '/api/template/create', 401],
    ['DELETE', '/api/template/delete/1', 401],
    ['POST', '/api/file/upload', 401],
    ['POST', '/api/agg/imga/sync/image?prompt=x', 401],
  ])('%s %s answers a stranger with %i', async (method, path, expected) => {
    const body =
      method === 'POST' && path.includes('task') ? { task_type: 'tea', prompt: 'x' } : { task_type: 'other' };
    const form = new FormData();
    form.set('file', new Blob(['x']), 'x.txt');
    const sent =
      method === 'POST'
        ? path.includes('/file/')
          ? form
          : path.includes('imga')
            ? undefined
            : body
        : undefined;
    const stranger = await rest(kiln.url, method, path, sent);
    expect(stranger.status).toBe(expected);
    expect(stranger.headers.get('www-authenticate')).toBe(expected === 401 ? 'Bearer' : null);
    const known = await rest(kiln.url, method, path, sent, withKey);
    expect(known.status).toBe(200);
  });

  it.each(all.filter(takesUpload).map(({ field }) => field))(
    '$name stores nothing of a stranger',
    async (field) => {
      const others = field.args.filter((one) => isRequiredArgument(one) && one.name !== 'file');
      const given = ['file: $file', ...others.map(({ name, type }) => `${name}: ${valueOf(type)}`)].join(
        ', ',
      );
      const query = `mutation ($file: Upload!) { ${field.name}(${given}) { id } }`;
      const form = new FormData();
      form.set('operations', JSON.stringify({ query, variables: { file: null } }));
      form.set('map', '{"file":["variables.file"]}');
      form.set('file', new Blob(['x']), 'x.txt');
      const headers = { 'apollo-require-preflight': 'true' };
      const answer = await fetch(`${kiln.url}/graphql`, { method: 'POST', body: form, headers });
      expect(await answer.json()).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] });
      const { pool } = kiln.runtime.database;
      expect((await pool.query(`select from media.media where owner = 'anon'`)).rowCount).toBe(0);
    },
  );

  it('startTask is not there for anybody outside', async () => {
    const { errors } = await graphql(
      kiln.url,
      'mutation { startTask(id: "x", owner: "y", start: {}) { id } }',
      {},
      withKey,
    );
    expect(errors?.[0]?.extensions['code']).toBe('GRAPHQL_VALIDATION_FAILED');
  });
});

function argumentsOf(field: GraphQLField<unknown, unknown>): string {
  const given = field.args.filter(isRequiredArgument).map(({ name, type }) => `${name}: ${valueOf(type)}`);
  return given.length === 0 ? '' : `(${given.join(', ')})`;
}

/** Any value of an input type, as GraphQL text. */
function valueOf(type: GraphQLInputType): string {
  if (isNonNullType(type)) return valueOf(type.ofType);
  if (isListType(type)) return '[]';
  if (isEnumType(type)) return type.getValues()[0]?.name ?? '';
  if (isInputObjectType(type)) {
    const members = Object.values(type.getFields()).filter(isRequiredInputField);
    return `{${members.map(({ name, type: of }) => `${name}: ${valueOf(of)}`).join(', ')}}`;
  }
  return { Int: '1', Float: '1', Boolean: 'true', JSON: '{}' }[getNamedType(type).name] ?? '"none"';
}

function selectionOf(field: GraphQLField<unknown, unknown>): string {
  return isLeafType(getNamedType(field.type)) ? '' : ' { __typename }';
}
