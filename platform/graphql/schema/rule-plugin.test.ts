import SchemaBuilder from '@pothos/core';
import { graphql } from 'graphql';
import { describe, expect, it } from 'vitest';

import { anonymousCaller, type Caller } from '../../access/caller.ts';
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
