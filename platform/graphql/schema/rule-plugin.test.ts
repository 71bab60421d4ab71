import SchemaBuilder from '@pothos/core';
import { graphql, parse, subscribe } from 'graphql';
import { describe, expect, it } from 'vitest';

import { anonymousCaller, internalCaller, type Caller } from '../../access/caller.ts';
import type { Rule } from '../../access/policy.ts';
import { rulePlugin, type RuleContext } from './rule-plugin.ts';

function newBuilder() {
  const builder = new SchemaBuilder<{ Context: RuleContext; DefaultFieldNullability: false }>({
    plugins: [rulePlugin],
    defaultFieldNullability: false,
  });
  builder.queryType({});
  return builder;
}

describe('the rule plugin', () => {
  it('refuses a schema whose root field has no rule', () => {
    const builder = newBuilder();
    // @ts-expect-error -- the types demand a rule on every root field
    builder.queryField('open', (t) => t.string({ resolve: () => 'x' }));
    expect(() => builder.toSchema()).toThrow('Query.open has no rule');
  });

  it('enforces the rule before the resolver runs', async () => {
    const builder = newBuilder();
    let ran = 0;
    builder.queryField('inner', (t) =>
      t.string({
        rule: 'service',
        resolve: () => {
          ran += 1;
          return 'secret';
        },
      }),
    );
    const context: RuleContext = { caller: anonymousCaller('t', null), authMode: 'open' };
    const result = await graphql({ schema: builder.toSchema(), source: '{ inner }', contextValue: context });
    expect(ran).toBe(0);
    expect(result.errors?.[0]?.originalError).toMatchObject({ code: 'FORBIDDEN' });
  });

  it('writes down the mutations that are to be audited, and no other of a caller on what is their own', async () => {
    const builder = newBuilder();
    builder.queryField('one', (t) => t.string({ rule: 'public', resolve: () => 'x' }));
    builder.mutationType({});
    for (const [name, more] of [
      ['deleted', { audited: true }],
      ['renamed', {}],
    ] as const) {
      builder.mutationField(name, (t) =>
        t.string({ rule: 'owner', args: { id: t.arg.id({ required: true }) }, ...more, resolve: () => 'x' }),
      );
    }
    const recorded: unknown[] = [];
    const audit = { record: async (_: unknown, entry: unknown) => void recorded.push(entry) };
    const caller: Caller = { ...anonymousCaller('t', null), kind: 'user', id: 'ann' };
    const { errors } = await graphql({
      schema: builder.toSchema(),
      source: 'mutation { deleted(id: "one") renamed(id: "two") }',
      contextValue: { caller, authMode: 'required', audit } satisfies RuleContext,
    });
    expect(errors).toBeUndefined();
    expect(recorded).toEqual([{ what: 'deleted', target: 'one' }]);
  });

  it('refuses a NUL character, and half of a surrogate pair, anywhere in the arguments, naming the field', async () => {
    const builder = newBuilder();
    const Input = builder.inputType('Input', { fields: (t) => ({ names: t.stringList() }) });
    builder.queryField('echo', (t) =>
      t.string({
        rule: 'public',
        args: { input: t.arg({ type: Input }), id: t.arg.id() },
        resolve: () => 'x',
      }),
    );
    const schema = builder.toSchema();
    const contextValue: RuleContext = { caller: anonymousCaller('t', null), authMode: 'open' };
    const ask = async (variableValues: object) => {
      const source = 'query ($input: Input, $id: ID) { echo(input: $input, id: $id) }';
      const { data, errors } = await graphql({
        schema,
        source,
        contextValue,
        variableValues: variableValues as Record<string, unknown>,
      });
      return errors?.[0]?.originalError ?? data;
    };
    expect(await ask({ input: { names: ['a', 'b'] }, id: 'c' })).toEqual({ echo: 'x' });
    expect(await ask({ input: { names: ['a', 'b\0'] } })).toMatchObject({
      code: 'BAD_USER_INPUT',
      field: 'names[1]',
    });
    expect(await ask({ id: '\0' })).toMatchObject({ code: 'BAD_USER_INPUT', field: 'id' });
    expect(await ask({ id: 'a\udc00' })).toMatchObject({ code: 'BAD_USER_INPUT', field: 'id' });
    expect(await ask({ id: 'a\ud83d\udd25' })).toEqual({ echo: 'x' });
  });
});

it('holds a subscription to its rule and to storable arguments, and notes it by its argument', async () => {
  const builder = newBuilder();
  builder.queryField('none', (t) => t.string({ rule: 'public', resolve: () => '' }));
  builder.subscriptionType({});
  for (const [name, rule] of [
    ['ticks', 'owner'],
    ['proofs', 'proof'],
  ] as const) {
    builder.subscriptionField(name, (t) =>
      t.string({
        rule,
        args: { id: t.arg.id({ required: true }) },
        async *subscribe() {
          yield 'tick';
        },
        resolve: (tick) => tick,
      }),
    );
  }
  const schema = builder.toSchema();
  const lines: unknown[] = [];
  const audit = { record: async (_: unknown, entry: unknown) => void lines.push(entry) };
  const follow = async (caller: Caller, id: string, name = 'ticks') => {
    const contextValue: RuleContext = { caller, authMode: 'required', audit };
    const document = parse(`subscription ($id: ID!) { ticks: ${name}(id: $id) }`);
    const started = await subscribe({ schema, document, contextValue, variableValues: { id } });
    if ('errors' in started) return started.errors?.[0]?.originalError;
    const events: unknown[] = [];
    for await (const { data } of started as AsyncIterable<{ readonly data?: unknown }>) events.push(data);
    return events;
  };
  const admin: Caller = { ...anonymousCaller('t', null), kind: 'user', id: 'ann', scopes: ['admin'] };
  expect(await follow(anonymousCaller('t', null), 'one')).toMatchObject({ code: 'UNAUTHENTICATED' });
  expect(await follow(admin, 'a\0')).toMatchObject({ code: 'BAD_USER_INPUT', field: 'id' });
  expect(lines).toEqual([]);
  expect(await follow(admin, 'one')).toEqual([{ ticks: 'tick' }]);
  expect(lines.splice(0)).toEqual([{ what: 'read ticks', target: 'one' }]);
  await follow(anonymousCaller('t', null), 'two', 'proofs');
  expect(lines).toEqual([]);
  await follow(admin, 'two', 'proofs');
  expect(lines).toEqual([{ what: 'read proofs', target: 'two' }]);
});

describe('what is written down', () => {
  const user: Caller = { ...anonymousCaller('t', null), kind: 'user', id: 'ann' };
  const admin: Caller = { ...user, scopes: ['admin'] };
  const key: Caller = { ...user, kind: 'key', id: 'key_1', scopes: ['read', 'start', 'manage'] };
  const things: Readonly<Record<string, unknown>> = {
    mine: { id: '1', owner: 'ann', input: 'x' },
    theirs: { id: '2', owner: 'bob', input: 'x' },
    nobodys: { id: '3', owner: 'anon', input: 'x' },
    nameless: { owner: 'bob', input: 'x' },
    several: {
      items: [
        { id: '1', owner: 'ann' },
        { id: '4', owner: 'bob' },
      ],
      input: 'x',
    },
  };

  /** What one root field has written down: `target of what`. */
  async function noted(
    caller: Caller,
    rule: Rule,
    selection: string,
    { kind = 'query', audited = false }: { kind?: 'query' | 'mutation'; audited?: boolean } = {},
  ): Promise<readonly string[]> {
    const builder = newBuilder();
    builder.queryField('none', (t) => t.string({ rule: 'public', resolve: () => '' }));
    const User = builder.inputType('User', { fields: (t) => ({ userId: t.string() }) });
    const Thing = builder.objectRef<object>('Thing').implement({
      fields: (t) => ({
        input: t.string({ resolve: () => 'x' }),
        name: t.string({ resolve: () => 'x' }),
      }),
    });
    const args = builder.args((t) => ({
      which: t.string({ required: true }),
      id: t.id(),
      codes: t.stringList(),
      number: t.int(),
      input: t.field({ type: User }),
      key: t.field({ type: User }),
      user: t.field({ type: User }),
    }));
    const resolve = (_: unknown, { which }: { readonly which: string }) =>
      (things[which] ?? JSON.parse(which)) as object;
    if (kind === 'query') builder.queryField('thing', (t) => t.field({ rule, type: Thing, args, resolve }));
    else {
      const more = audited ? { audited } : {};
      builder.mutationType({
        fields: (t) => ({ thing: t.field({ rule, type: Thing, args, ...more, resolve }) }),
      });
    }
    const lines: string[] = [];
    const { errors } = await graphql({
      schema: builder.toSchema(),
      source: `${kind} { ${selection} }`,
      contextValue: {
        caller,
        authMode: 'required',
        audit: { record: async (_, { what, target }) => void lines.push(`${what}: ${target}`) },
      } satisfies RuleContext,
    });
    expect(errors).toBeUndefined();
    return lines;
  }

  it.each<[string, Caller, Rule, string, readonly string[]]>([
    [
      'a key that reads what people wrote',
      key,
      'owner',
      'thing(which: "theirs") { input }',
      ['read thing: 2'],
    ],
    ['a key that asks how far work is', key, 'owner', 'thing(which: "theirs") { name }', []],
    ['a key that reads what is public', key, 'public', 'thing(which: "theirs") { input }', []],
    ['a user', user, 'owner', 'thing(which: "theirs") { input }', []],
    [
      'Kiln itself',
      { ...internalCaller('t'), scopes: ['admin'] },
      'owner',
      'thing(which: "theirs") { name }',
      [],
    ],
    ['an administrator', admin, 'owner', 'thing(which: "theirs") { name }', ['read thing: 2']],
    ['an administrator with their own', admin, 'owner', 'thing(which: "mine") { name }', []],
    ["an administrator with what is nobody's", admin, 'owner', 'thing(which: "nobodys") { name }', []],
    ['an administrator with a list', admin, 'anyone', 'thing(which: "several") { name }', ['read thing: 4']],
    [
      'what was asked for before what was found',
      admin,
      'owner',
      'thing(which: "theirs", id: "9") { name }',
      ['read thing: 9'],
    ],
    ['what has no name', admin, 'owner', 'thing(which: "nameless") { name }', ['read thing: null']],
    ['what is public', admin, 'public', 'thing(which: "theirs") { name }', []],
    ['what proves itself', admin, 'proof', 'thing(which: "theirs") { name }', []],
    ['what starts work', admin, 'spend', 'thing(which: "theirs") { name }', []],
  ])('of reading: %s', async (_, caller, rule, selection, lines) => {
    expect(await noted(caller, rule, selection)).toEqual(lines);
  });

  it.each<[string, Caller, Rule, boolean, string, readonly string[]]>([
    ['of administrators', admin, 'admin', false, 'which: "mine"', ['thing: 1']],
    ['of operators', admin, 'operator', false, 'which: "mine"', ['thing: 1']],
    ['by an id', user, 'owner', true, 'which: "mine", id: "7"', ['thing: 7']],
    ['by several codes', user, 'owner', true, 'which: "mine", codes: ["a", "b"]', ['thing: a,b']],
    ['by a number that the answer has', user, 'owner', true, 'which: "{\\"id\\":5}"', ['thing: 5']],
    ['by what an input names', user, 'owner', true, 'which: "mine", input: { userId: "u1" }', ['thing: u1']],
    ['by what a key names', user, 'owner', true, 'which: "mine", key: { userId: "u2" }', ['thing: u2']],
    ['by the user', user, 'owner', true, 'which: "mine", user: { userId: "u3" }', ['thing: u3']],
    [
      'by who signed in',
      user,
      'proof',
      true,
      'which: "{\\"signedIn\\":{\\"user\\":{\\"id\\":\\"u4\\"}}}", id: "secret"',
      ['thing: u4'],
    ],
    ['without a name', user, 'owner', true, 'which: "{}"', ['thing: null']],
    // Who ends a checkout of others does so as an administrator, whatever a browser needs for its own.
    [
      "of others' things that prove themselves",
      admin,
      'proof',
      false,
      'which: "theirs", id: "x"',
      ['thing: 2'],
    ],
    ['of their own that prove themselves', admin, 'proof', false, 'which: "mine"', []],
    ['by people, that prove themselves', user, 'proof', false, 'which: "theirs"', []],
  ])('of changes: %s', async (_, caller, rule, audited, values, lines) => {
    expect(await noted(caller, rule, `thing(${values}) { name }`, { kind: 'mutation', audited })).toEqual(
      lines,
    );
  });
});
