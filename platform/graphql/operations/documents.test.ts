import { buildSchema, GraphQLError, parse, type ValidationRule } from 'graphql';
import { describe, expect, it } from 'vitest';

import { createDocuments } from './documents.ts';
import { documentWeight } from './inspect-document.ts';

const schema = buildSchema('type Query { a: Int b: Int } type Subscription { s: Int }');
const code = (errors: readonly GraphQLError[] | undefined) => errors?.[0]?.extensions['code'];

describe('prepared documents', () => {
  it('are parsed and validated once', () => {
    let validations = 0;
    const counting: ValidationRule = () => {
      validations += 1;
      return {};
    };
    const documents = createDocuments({ schema, rules: [counting] });
    const first = documents.prepare('{ a }').document;
    expect(documents.prepare('{ a }').document).toBe(first);
    expect(validations).toBe(1);
  });

  it('are kept up to a bound, and refused ones are not kept', () => {
    const documents = createDocuments({ schema, maxBytes: 20_000 });
    const first = documents.prepare('{ a }').document;
    for (let index = 0; index < 50; index += 1) documents.prepare(`{ wrong${index} }`);
    expect(documents.prepare('{ a }').document).toBe(first);
    documents.prepare('{ b }');
    documents.prepare('{ a b }');
    expect(documents.known('{ a }')).toBeUndefined();
    expect(documents.bytes).toBeLessThanOrEqual(20_000);
  });

  it('weigh what they keep: fields as often as their fragments are spread, and never without end', () => {
    const weightOf = (query: string) => documentWeight(parse(query));
    const once = weightOf('{ ...F } fragment F on Query { a b }');
    const twice = weightOf('{ ...F x: a ...F } fragment F on Query { a b }');
    expect(twice - once).toBeGreaterThan(2 * (weightOf('{ a b }') - weightOf('{ a }')));
    expect(weightOf('{ ...F } fragment F on Query { a ...F }')).toBeLessThan(2 * once);
  });

  it('are refused with a code that names the reason', () => {
    const documents = createDocuments({ schema, maxTokens: 20 });
    expect(code(documents.prepare('{ a').errors)).toBe('GRAPHQL_PARSE_FAILED');
    expect(code(documents.prepare('{ c }').errors)).toBe('GRAPHQL_VALIDATION_FAILED');
    expect(code(documents.prepare(`{ ${'a '.repeat(30)} }`).errors)).toBe('QUERY_REFUSED');
  });

  it('are checked against the limits before anything else', () => {
    const refuseAll: ValidationRule = (context) => ({
      Document(node) {
        const extensions = { code: 'QUERY_REFUSED' };
        context.reportError(new GraphQLError('too much', { nodes: [node], extensions }));
      },
    });
    const documents = createDocuments({ schema, rules: [refuseAll] });
    expect(documents.prepare('{ c d e }').errors?.map(({ message }) => message)).toEqual(['too much']);
  });

  it('are refused, not thrown, where graphql-js throws while it validates', () => {
    const query = 'subscription ($on: Boolean!) { s @include(if: $on) }';
    expect(code(createDocuments({ schema }).prepare(query).errors)).toBe('GRAPHQL_VALIDATION_FAILED');
  });
});
