import { setImmediate as nextTurn } from 'node:timers/promises';

import {
  GraphQLError,
  isAbstractType,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  type GraphQLAbstractType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
} from 'graphql';

import { hashParts } from '../hash.ts';

/**
 * Gives a schema resolvers that do whatever resolvers can do: return values that fit and that do not, promises, errors,
 * sets, functions; throw; or leave the value to a member of the parent. What they do follows from the seed and the place.
 */
export interface OddResolvers {
  /** The context of one execution: what is odd in it, and the calls that it sees. */
  makeContext(seed: number, mode: 'at once' | 'later'): OddContext;
}

export interface OddContext {
  readonly seed: number;
  readonly mode: 'at once' | 'later';
  /** Each call of a resolver, isTypeOf or resolveType: its place and arguments. */
  readonly calls: string[];
}

/** An object of a schema with odd resolvers: what its members are follows from where it stands. */
interface OddObject {
  readonly seed: readonly unknown[];
  readonly context: OddContext;
}

/** Installs the resolvers in place of whatever the schema has. */
export function installOddResolvers(schema: GraphQLSchema): OddResolvers {
  for (const type of Object.values(schema.getTypeMap())) {
    if (type.name.startsWith('__')) continue;
    if (isAbstractType(type)) installResolveType(type, schema);
    if (!isObjectType(type)) continue;
    if (hashParts('isTypeOf', type.name) % 4 === 0) installTypeCheck(type);
    const isRoot = [schema.getQueryType(), schema.getMutationType()].includes(type);
    for (const field of Object.values(type.getFields())) {
      delete field.resolve;
      if (isRoot || hashParts('resolver', type.name, field.name) % 2 === 0)
        field.resolve = createResolver(type, field, schema);
    }
  }
  return { makeContext: (seed, mode) => ({ seed, mode, calls: [] }) };
}

function createResolver(
  type: GraphQLObjectType,
  field: GraphQLField<unknown, unknown>,
  schema: GraphQLSchema,
) {
  return (source: unknown, given: object, context: unknown, info: GraphQLResolveInfo): unknown => {
    const odd = context as OddContext;
    odd.calls.push(callText(info, given));
    const above = (source as Partial<OddObject> | undefined)?.seed ?? [];
    return outcome(field.type, { seed: [...above, type.name, field.name, given], context: odd, schema });
  };
}

function callText(info: GraphQLResolveInfo, given: object): string {
  const keys: (string | number)[] = [];
  for (let path: GraphQLResolveInfo['path'] | undefined = info.path; path; path = path.prev)
    keys.push(path.key);
  const nodes = info.fieldNodes.map(({ loc }) => loc?.start).join();
  const facts = [info.parentType.name, info.fieldName, String(info.returnType), info.path.typename, nodes];
  return JSON.stringify([keys.toReversed(), facts, given, info.variableValues, info.operation.operation]);
}

/** A rejection that is no unhandled one by itself: a list may fail before all its elements are looked at. */
function rejection(message: string): Promise<never> {
  const rejected = Promise.reject(new Error(message));
  rejected.catch(() => undefined);
  return rejected;
}

interface Making {
  readonly seed: readonly unknown[];
  readonly context: OddContext;
  readonly schema: GraphQLSchema;
}

/** What a resolver does at a place: a value, a promise, or a throw. */
function outcome(type: GraphQLOutputType, making: Making): unknown {
  const { seed, context } = making;
  const draw = hashParts(context.seed, seed, 'outcome') % 100;
  if (draw === 0) throw new Error('thrown');
  if (draw === 1) throw new GraphQLError('refused', { extensions: { code: 'NO', at: 7 } });
  if (draw === 2) return new Error('returned');
  // oxlint-disable-next-line typescript/only-throw-error -- resolvers of others may throw anything
  if (draw === 3) throw 'a text';
  const value = makeValue(type, making);
  if (context.mode === 'at once' || draw > 40) return value;
  if (draw < 6) return rejection('rejected');
  return draw < 20 ? Promise.resolve(value) : nextTurn(value);
}

function makeValue(type: GraphQLOutputType, making: Making): unknown {
  const { seed, context, schema } = making;
  const draw = hashParts(context.seed, seed, 'value') % 100;
  if (isNonNullType(type))
    return draw === 0 ? null : makeValue(type.ofType, { ...making, seed: [...seed, '!'] });
  if (draw < 5) return draw < 3 ? null : undefined;
  if (draw === 5)
    return [{ odd: true }, 'odd', 7.5, Number.NaN, true, () => 'odd', Symbol.iterator][hashParts(seed) % 7];
  if (isListType(type)) {
    const length = hashParts(seed, 'length') % 4;
    const list = Array.from({ length }, (_, index) =>
      element(type.ofType, { ...making, seed: [...seed, index] }),
    );
    return draw < 15 ? new Set(list) : list;
  }
  if (isEnumType(type)) return type.getValues()[hashParts(seed) % type.getValues().length]?.value;
  if (isLeafType(type)) return makeLeaf(type.name, hashParts(seed) % 90);
  if (!isAbstractType(type)) return makeObject(type, making);
  const types = schema.getPossibleTypes(type);
  const object = types[hashParts(seed, 'type') % Math.max(1, types.length)];
  return object === undefined ? null : makeObject(object, making);
}

function element(type: GraphQLOutputType, making: Making): unknown {
  const { context, seed } = making;
  const value = makeValue(type, making);
  const draw = hashParts(context.seed, seed, 'element') % 40;
  if (draw === 0) return new Error('an element');
  if (context.mode === 'at once' || draw > 10) return value;
  return draw === 1 ? rejection('a rejected element') : Promise.resolve(value);
}

function makeLeaf(name: string, n: number): unknown {
  const known: Readonly<Record<string, unknown>> = {
    Int: [n, String(n), true, { valueOf: () => n }][n % 4],
    Float: [n / 4, n, '1.5'][n % 3],
    Boolean: [n % 2 === 0, n % 2][n % 2],
    ID: n % 3 === 0 ? n : `id-${n}`,
    DateTime: new Date(1.7e12 + n * 1e9),
    JSON: [{ a: n }, [n], n][n % 3],
    JSONObject: { a: n, b: [null] },
    URL: `https://example.com/${n}`,
  };
  return known[name] ?? (n % 9 === 0 ? n : `${name}-${n}`);
}

/** An object whose members without resolvers are values, promises or methods. */
function makeObject(type: GraphQLObjectType, making: Making): object {
  const { seed, context, schema } = making;
  const object: Record<string, unknown> = { __typename: type.name };
  Object.defineProperty(object, 'seed', { value: seed });
  for (const field of Object.values(type.getFields())) {
    if (field.resolve !== undefined) continue;
    const below = { schema, context, seed: [...seed, field.name] };
    if (isLeafType(bare(field.type)) && hashParts(seed, field.name, 'method') % 5 > 0) {
      object[field.name] = makeValue(field.type, below);
    } else {
      object[field.name] = (given: object, _context: unknown, info: GraphQLResolveInfo) => {
        context.calls.push(callText(info, given));
        return outcome(field.type, { ...below, seed: [...below.seed, given] });
      };
    }
  }
  return object;
}

function bare(type: GraphQLOutputType): GraphQLOutputType {
  return isNonNullType(type) ? type.ofType : type;
}

function installResolveType(type: GraphQLAbstractType, schema: GraphQLSchema): void {
  if (hashParts('resolveType', type.name) % 3 === 0) {
    // `__typename` or isTypeOf decide, as by default.
    type.resolveType = undefined;
    return;
  }
  type.resolveType = (value: unknown, context: unknown, info: GraphQLResolveInfo) => {
    const odd = context as OddContext;
    odd.calls.push(`resolveType ${type.name} ${callText(info, {})}`);
    const name = (value as { __typename?: string } | null)?.__typename;
    const draw = hashParts(odd.seed, (value as OddObject).seed, type.name) % 60;
    if (draw < 5) {
      const wrong = [undefined, 'Nothing', schema.getQueryType(), 'String', 7, 'Query'][
        hashParts(draw, odd.seed) % 6
      ];
      return wrong as string;
    }
    return odd.mode === 'later' && draw < 20 ? Promise.resolve(name) : name;
  };
}

function installTypeCheck(type: GraphQLObjectType): void {
  type.isTypeOf = (value: unknown, context: unknown, info: GraphQLResolveInfo) => {
    const odd = context as OddContext;
    odd.calls.push(`isTypeOf ${type.name} ${callText(info, {})}`);
    const { seed, __typename } = value as OddObject & { __typename?: string };
    const draw = hashParts(odd.seed, seed, type.name, 'is') % 60;
    if (draw === 0) throw new Error('isTypeOf failed');
    const is = draw === 1 ? false : __typename === type.name;
    return odd.mode === 'later' && draw < 20 ? Promise.resolve(is) : is;
  };
}
