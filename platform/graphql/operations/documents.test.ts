import { buildSchema, GraphQLError, parse, type ValidationRule } from 'graphql';
import { describe, expect, it } from 'vitest';

import { createDocuments, type SharedForm } from './documents.ts';
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
    const weigh = (query: string) => documentWeight(parse(query));
    const once = weigh('{ ...F } fragment F on Query { a b }');
    const twice = weigh('{ ...F x: a ...F } fragment F on Query { a b }');
    expect(twice - once).toBeGreaterThan(2 * (weigh('{ a b }') - weigh('{ a }')));
    expect(weigh('{ ...F } fragment F on Query { a ...F }')).toBeLessThan(2 * once);
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

describe('documents that share a form', () => {
  /** `{ x: a }`, whatever x is, shares `{ a }`; others share nothing. */
  const share = (query: string): SharedForm | null => {
    const [, name] = /^\{ (\w+): a \}$/.exec(query) ?? [];
    return name === undefined ? null : { text: '{ a }', names: new Map([['a', name]]), values: {} };
  };
  let validations = 0;
  const counting: ValidationRule = () => ((validations += 1), {});

  it('are validated and kept once, and each is known with its own form', () => {
    validations = 0;
    const documents = createDocuments({ schema, rules: [counting], share });
    const first = documents.prepare('{ x: a }');
    const second = documents.prepare('{ y: a }');
    expect(first.form?.names.get('a')).toBe('x');
    expect(second.form?.names.get('a')).toBe('y');
    expect(second.document).toBe(first.document);
    expect(documents.prepare('{ y: a }')).toEqual(second);
    expect(documents.known('{ y: a }')).toBe(first.document);
    expect(validations).toBe(1);
    expect([...documents.all()]).toEqual([{ query: '{ a }', document: first.document }]);
    expect(documents.prepare('{ a }').document).toBe(first.document);
  });

  it('are known by their parsed document where another has their form', () => {
    const documents = createDocuments({ schema, share });
    expect(documents.known('{ z: a }', parse('{ z: a }'))).toBeUndefined();
    const { document } = documents.prepare('{ x: a }');
    expect(documents.known('{ z: a }')).toBeUndefined();
    expect(documents.known('{ b }', parse('{ b }'))).toBeUndefined();
    expect(documents.known('{ z: a }', parse('{ z: a }'))).toBe(document);
    expect(documents.known('{ z: a }')).toBe(document);
  });

  it('are documents of their own where there is no room for both', () => {
    const maxBytes = '{ a }'.length + documentWeight(parse('{ a }')) + 100;
    const documents = createDocuments({ schema, share, maxBytes });
    const { document, form, errors } = documents.prepare('{ x: a }');
    expect([document?.kind, form, errors]).toEqual(['Document', undefined, undefined]);
    expect([...documents.all()]).toEqual([]);
    expect(documents.known('{ x: a }')).toBeUndefined();
  });

  it('weigh their text, names and values', () => {
    const weightWith = (names: ReadonlyMap<string, string>, values: object) => {
      const form = { text: '{ a }', names, values: values as SharedForm['values'] };
      const documents = createDocuments({ schema, share: (query) => (query === '{ a }' ? null : form) });
      documents.prepare('{ a }');
      const before = documents.bytes;
      documents.prepare('{ x: a }');
      return documents.bytes - before;
    };
    const names = new Map([['a', 'x']]);
    expect([weightWith(new Map(), {}), weightWith(names, {}), weightWith(names, { v: 1, w: 2 })]).toEqual([
      '{ x: a }'.length + '{ a }'.length,
      13 + 300,
      13 + 900,
    ]);
  });
});

it('keeps the code of a rule that is asked with one document, and says the other problems up to twenty', () => {
  const documents = createDocuments({ schema });
  const refuse: ValidationRule = (context) => ({
    Document: () =>
      context.reportError(new GraphQLError('not here', { extensions: { code: 'QUERY_REFUSED' } })),
  });
  const document = parse('{ a }');
  expect(documents.add('{ a }', document, [refuse]).map(({ extensions }) => extensions)).toEqual([
    { code: 'QUERY_REFUSED' },
  ]);
  expect(documents.known('{ a }')).toBeUndefined();
  expect(documents.add('{ a }', document, [])).toEqual([]);
  expect(documents.known('{ a }')).toBe(document);
  const wrong = Array.from({ length: 30 }, (_, index) => `wrong${index}`).join(' ');
  expect(documents.prepare(`{ ${wrong} }`).errors).toHaveLength(21);
  expect(code(documents.prepare(`${'{ a '.repeat(300)}${'}'.repeat(300)}`).errors)).toBe('QUERY_REFUSED');
});
