import { buildSchema, type DocumentNode, GraphQLError, parse } from 'graphql';
import { describe, expect, it } from 'vitest';

import { anonymousCaller, type Caller } from '../../../platform/access/caller.ts';
import { createDocuments } from '../../../platform/graphql/operations/documents.ts';
import { createQueryLimits } from '../../limits/query-limits.ts';
import type { RateLimiter } from '../../limits/rate-limit.ts';
import { type AdmissionOptions, createAdmission } from './admission.ts';

const schema = buildSchema(`
  type Query { a: Int b: Int n: N }
  type N { a: Int }
  type Mutation { start: Int write: Int signIn: Int }
  type Subscription { paid: Int free: Int }
`);
const anonymous = anonymousCaller('t', '192.0.2.1');
const user: Caller = { ...anonymous, kind: 'user', id: 'usr_1' };

/** An admission whose counts are told; those of the class `refused` are over the limit. */
function admission(options: Partial<AdmissionOptions> = {}, refused?: string) {
  const counted: string[] = [];
  const rateLimiter: RateLimiter = {
    async take(_caller, rateClass, points = 1) {
      counted.push(`${rateClass} ${points}`);
      const allowed = rateClass !== refused;
      return { allowed, limit: 5, remaining: 1, resetSeconds: 0, retryAfter: allowed ? 0 : 7 };
    },
    refuseStart: async () => Promise.reject(new Error('not asked for')),
  };
  const made = createAdmission({
    documents: createDocuments({ schema }),
    limits: createQueryLimits({ introspection: true }),
    rateLimiter,
    paidSubscriptions: ['paid'],
    writes: ['write'],
    signIns: ['signIn'],
    ...options,
  });
  const admit: typeof made.admit = (...asked) => made.admit(...asked);
  const ask = async (query: string, caller = user, operationName?: string, isCounted?: boolean) => {
    const verdict = await admit({ query, operationName, variables: {} }, caller, isCounted);
    const counts = counted.splice(0);
    if (!('errors' in verdict))
      return { kind: verdict.operation.kind, fields: verdict.operation.fields, counts };
    const { code, limit } = verdict.errors[0]?.extensions ?? {};
    return { status: verdict.status, code, limit, counts };
  };
  return { admit, ask };
}

describe('an operation', () => {
  it('is counted as a read, a new document by its points, and once', async () => {
    const { ask } = admission();
    const admitted = { kind: 'query', fields: ['a', 'b'] };
    expect(await ask('{ a ...F } fragment F on Query { b }')).toEqual({
      ...admitted,
      counts: ['read 1', 'plan 1'],
    });
    expect(await ask('{ a ...F } fragment F on Query { b }')).toEqual({ ...admitted, counts: ['read 1'] });
    expect(await ask('{ a ...F } fragment F on Query { b }', user, undefined, true)).toEqual({
      ...admitted,
      counts: [],
    });
    const many = `{ ${Array.from({ length: 15 }, (_, index) => `x${index}: a`).join(' ')} ${' '.repeat(2_000)}}`;
    expect(await ask(many)).toMatchObject({ counts: ['read 1', 'plan 3'] });
    const fields = `{ n { ${'a '.repeat(99)}} }`;
    expect(await ask(fields)).toMatchObject({ counts: ['read 1', 'plan 1', 'plan 2'] });
    const named = 'query A { a } query B { b }';
    expect(await ask(named, user, 'B')).toMatchObject({ fields: ['b'] });
    expect(await ask(named, user, 'A')).toMatchObject({ fields: ['a'] });
  });

  it.each([
    ['mutation { start }', ['start 1']],
    ['mutation { x: start y: start write }', ['write 1', 'start 2']],
    ['mutation A { write } query B { a b: a c: a }', ['write 1'], 'A'],
    ['mutation A { start } mutation B { start x: start }', ['start 1'], 'A'],
    ['mutation { ...f ...f } fragment f on Mutation { start x: start }', ['start 2']],
    ['mutation { write x: write }', ['write 2']],
    ['mutation { signIn start }', ['sign-in 1', 'start 1']],
    ['subscription { paid }', ['start 1']],
    ['subscription { free }', []],
  ])('%s is counted by its root fields as %j', async (query, counts, name?: string) => {
    const { ask } = admission();
    expect(await ask(query, user, name)).toMatchObject({ counts: ['read 1', 'plan 1', ...counts] });
  });

  it.each([
    ['read', '{ a }', ['read 1']],
    ['plan', '{ a }', ['read 1', 'plan 1']],
    ['write', 'mutation { write start }', ['read 1', 'plan 1', 'write 1']],
    ['start', 'mutation { write start }', ['read 1', 'plan 1', 'write 1', 'start 1']],
    ['sign-in', 'mutation { signIn start }', ['read 1', 'plan 1', 'sign-in 1']],
  ])('is refused when there were too many of class %s', async (refused, query, counts) => {
    const { ask, admit } = admission({}, refused);
    expect(await ask(query)).toEqual({ status: 429, code: 'RATE_LIMITED', limit: undefined, counts });
    const { errors, rate } = (await admit(
      { query, operationName: undefined, variables: {} },
      user,
    )) as never as {
      readonly errors: readonly GraphQLError[];
      readonly rate: unknown;
    };
    const what = refused === 'plan' ? 'points of new documents' : 'requests';
    expect(errors[0]?.message).toBe(`too many ${what}: 5 a minute are allowed, try again in 7 s`);
    expect([errors[0]?.extensions['retryAfter'], rate]).toEqual([
      7,
      expect.objectContaining({ retryAfter: 7 }),
    ]);
  });

  it('is refused when it can not be parsed, is not valid, or is none of its document', async () => {
    const { ask } = admission({ rateLimiter: undefined });
    expect(await ask('{')).toMatchObject({ status: 400, code: 'GRAPHQL_PARSE_FAILED' });
    expect(await ask('{ c }')).toMatchObject({ status: 400, code: 'GRAPHQL_VALIDATION_FAILED' });
    expect(await ask('query A { a } query B { b }')).toMatchObject({ code: 'OPERATION_RESOLUTION_FAILURE' });
    expect(await ask('{ a }', user, 'A')).toMatchObject({
      status: 400,
      code: 'OPERATION_RESOLUTION_FAILURE',
    });
    expect(await ask('{ a }')).toMatchObject({ kind: 'query' });
    const findRefusal = () => new GraphQLError('no', { extensions: { code: 'NOT_IN_LIST' } });
    expect(await admission({ findRefusal }).ask('{ a }')).toMatchObject({ status: 400, code: 'NOT_IN_LIST' });
  });

  it('is refused for its fields before it is validated, as for its length', async () => {
    const counted: unknown[] = [];
    const rateLimiter = {
      async take(_: unknown, rateClass: string, points = 1) {
        counted.push(points);
        return {
          allowed: rateClass !== 'plan' || points < 2,
          limit: 5,
          remaining: 0,
          resetSeconds: 0,
          retryAfter: 7,
        };
      },
    };
    const { ask } = admission({ rateLimiter: rateLimiter as never });
    expect(await ask(`{ n { ${'a '.repeat(99)}} none }`)).toMatchObject({
      status: 429,
      code: 'RATE_LIMITED',
    });
    expect(counted).toEqual([1, 1, 2]);
  });

  it('is named where its document has several, or is told that it is none of them', async () => {
    const { admit } = admission();
    const readMessage = async (query: string, operationName?: string) => {
      const verdict = await admit({ query, operationName, variables: {} }, user);
      return 'errors' in verdict ? verdict.errors[0]?.message : null;
    };
    expect(await readMessage('query A { a } query B { b }')).toContain('name the operation');
    expect(await readMessage('{ a }', 'A "b"')).toBe('the document has no operation named "A \\"b\\""');
  });

  it('shares what is known of a document that has another form', async () => {
    const document = parse('{ a }');
    const documents = createDocuments({ schema });
    const known = (_: string, parsed?: DocumentNode) => (parsed === undefined ? undefined : document);
    const { ask } = admission({ documents: { ...documents, known } });
    // Of one that can't be validated, and has many fields.
    expect(await ask(`{ none { ${'a '.repeat(99)}} }`)).toMatchObject({
      kind: 'query',
      fields: ['a'],
      counts: ['read 1', 'plan 1'],
    });
  });

  it('is taken of strangers when it is trusted, or small where any are taken', async () => {
    const trustedDocuments = new Set(['{ a }']);
    const only = admission({ trustedOnly: true, trustedDocuments });
    expect(await only.ask('{ a }', anonymous)).toMatchObject({ kind: 'query' });
    expect(await only.ask('{ b }', anonymous)).toMatchObject({ status: 400, limit: 'trusted-documents' });
    expect(await only.ask('{ b }', user)).toMatchObject({ kind: 'query' });
    const long = (field: string) => `{ ${field} ${' '.repeat(2_000)} }`;
    const small = admission({ anonymousPoints: 2, trustedDocuments: new Set([long('b')]) });
    expect(await small.ask(long('a'), anonymous)).toMatchObject({ status: 400, limit: 'points' });
    expect(await small.ask(long('b'), anonymous)).toMatchObject({ kind: 'query' });
    expect(await small.ask(long('a'), user)).toMatchObject({ kind: 'query' });
    const fields = `{ n { ${'a '.repeat(99)}} }`;
    const ask = (anonymousPoints: number) => admission({ anonymousPoints }).ask(fields, anonymous);
    expect([await ask(2), await ask(3)]).toMatchObject([{ limit: 'points' }, { kind: 'query' }]);
    expect(await admission({ anonymousPoints: 3 }).ask(long('a'), anonymous)).toMatchObject({
      kind: 'query',
    });
    // It is known now, and costs nothing to plan.
    expect(await small.ask(long('a'), anonymous)).toMatchObject({ kind: 'query' });
  });
});
