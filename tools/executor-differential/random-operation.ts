import {
  getNamedType,
  isCompositeType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  isRequiredArgument,
  isRequiredInputField,
  isUnionType,
  OperationTypeNode,
  parse,
  validate,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLInputType,
  type GraphQLNamedType,
  type GraphQLSchema,
} from 'graphql';

import type { Random } from '../fuzz/random.ts';

/** An operation with its variables. */
export interface Operation {
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
}

export interface RandomOperationOptions {
  readonly schema: GraphQLSchema;
  readonly kind: OperationTypeNode;
  readonly random: Random;
  /** In how many of a hundred variables the value does not fit its type (default 0). */
  readonly misfits?: number;
}

/** How deep and how many fields at most: planning takes most of the time of a case. */
const MAX_DEPTH = 4;
const MAX_FIELDS = 22;
/** Names that every object has by inheritance are asked for as well. */
const ALIASES = ['x', 'y', 'constructor', 'toString', 'hasOwnProperty', '__proto__'];
const CONDITIONS = [
  '@include(if: $yes)',
  '@skip(if: $yes)',
  '@include(if: $no)',
  '@skip(if: $no)',
  '@include(if: true)',
  '@skip(if: false)',
  '@include(if: false)',
  '@skip(if: $no) @include(if: $yes)',
];
const VARIABLES: Readonly<Record<string, string>> = { $yes: '$yes: Boolean = true', $no: '$no: Boolean!' };
/** Selections that are only at the root: conditions of both variables, introspection. */
const ROOT_SELECTIONS = [
  '',
  '',
  '',
  'zz: __typename @include(if: $yes) yy: __typename @skip(if: $no)',
  'zz: __typename @include(if: $yes)',
  '__schema { queryType { name } }',
  't: __type(name: "Query") { name @skip(if: $no) kind }',
];

/** A random valid operation; null when none was found in some attempts (or the schema has no such root). */
export function randomOperation(options: RandomOperationOptions): Operation | null {
  const { schema, kind, random } = options;
  const root = schema.getRootType(kind);
  if (root === undefined || root === null) return null;
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const writer = createWriter(options);
    const further = kind === OperationTypeNode.QUERY ? random.of(ROOT_SELECTIONS) : '';
    const selections =
      kind === OperationTypeNode.SUBSCRIPTION
        ? writer.oneField(root)
        : `${writer.selections(root, MAX_DEPTH)} ${further}`;
    const body = [`{ ${selections} }`, ...writer.fragments].join('\n');
    const used = Object.keys(VARIABLES).filter((name) => body.includes(name));
    const definitions = [...used.map((name) => VARIABLES[name]), ...writer.definitions];
    const query = `${kind} T${definitions.length === 0 ? '' : `(${definitions.join(', ')})`} ${body}`;
    if (validate(schema, parse(query)).length > 0) continue;
    const conditions = random.chance(50) ? {} : { yes: random.chance(50) };
    return { query, variables: { no: random.chance(50), ...conditions, ...writer.values } };
  }
  return null;
}

interface Writer {
  selections(type: GraphQLCompositeType, depth: number): string;
  /** One field of a root, without conditions. */
  oneField(type: GraphQLCompositeType): string;
  /** The named fragments that were written on the way. */
  readonly fragments: string[];
  /** The variables that arguments were given, as the operation declares them, and their values. */
  readonly definitions: string[];
  readonly values: Record<string, unknown>;
}

function createWriter({ schema, random, misfits = 0 }: RandomOperationOptions): Writer {
  const fragments: string[] = [];
  const definitions: string[] = [];
  const values: Record<string, unknown> = {};
  let fields = 0;

  const condition = (): string => (random.chance(12) ? ` ${random.of(CONDITIONS)}` : '');
  const variable = (type: GraphQLInputType): string => {
    const name = `v${definitions.length}`;
    const isLeftOut = !isNonNullType(type) && random.chance(20);
    if (!isLeftOut) values[name] = random.chance(misfits) ? random.of(MISFITS) : inputValue(type, random, 2);
    definitions.push(`$${name}: ${String(type)}`);
    return `$${name}`;
  };
  const drawArguments = ({ args }: GraphQLField<unknown, unknown>): string => {
    const given = args
      .filter((argument) => isRequiredArgument(argument) || random.chance(35))
      .map(({ name, type }) => `${name}: ${random.chance(30) ? variable(type) : inputText(type, random, 2)}`);
    return given.length === 0 ? '' : `(${given.join(', ')})`;
  };
  const fieldText = (field: GraphQLField<unknown, unknown>, depth: number, isBare = false): string => {
    fields += 1;
    const alias = !isBare && random.chance(14) ? `${random.of(ALIASES)}: ` : '';
    const type = getNamedType(field.type);
    const inner = isCompositeType(type) ? ` { ${selections(type, depth - 1)} }` : '';
    const text = `${alias}${field.name}${drawArguments(field)}${isBare ? '' : condition()}${inner}`;
    // The same field once more, with other parts: both must be merged.
    if (alias !== '' || !isCompositeType(type) || field.args.length > 0 || isBare || !random.chance(20))
      return text;
    return `${text} ${field.name} { ${selections(type, depth - 1)} }`;
  };
  const fragmentText = (type: GraphQLNamedType, depth: number): string => {
    if (!isCompositeType(type)) return '__typename';
    const inner = `{ ${selections(type, depth)} }`;
    if (random.chance(70)) return `... on ${type.name}${condition()} ${inner}`;
    fragments.push(`fragment F${fragments.length} on ${type.name} ${inner}`);
    return `...F${fragments.length - 1}${condition()}`;
  };
  const narrower = (type: GraphQLCompositeType): readonly GraphQLNamedType[] => {
    if (isObjectType(type)) return [];
    const objects = schema.getPossibleTypes(type);
    const interfaces = objects.flatMap((object) => object.getInterfaces());
    return [...new Set([...objects, ...(random.chance(30) ? interfaces : [])])];
  };
  const choose = (type: GraphQLCompositeType, depth: number) => {
    if (isUnionType(type)) return [];
    const all = Object.values(type.getFields()).filter(
      ({ type: of }) => isLeafType(getNamedType(of)) || (depth > 0 && fields < MAX_FIELDS),
    );
    return all.length === 0 ? [] : Array.from({ length: 1 + random.below(3) }, () => random.of(all));
  };
  function selections(type: GraphQLCompositeType, depth: number): string {
    const parts = choose(type, depth).map((field) => fieldText(field, depth));
    if (random.chance(25)) parts.push(random.of(['__typename', 'kind: __typename', '__typename __typename']));
    if (depth > 0) {
      for (const each of narrower(type)) if (random.chance(60)) parts.push(fragmentText(each, depth - 1));
      if ((isObjectType(type) || isInterfaceType(type)) && random.chance(8)) {
        parts.push(
          random.chance(50)
            ? fragmentText(type, depth - 1)
            : `...${condition()} { ${selections(type, depth - 1)} }`,
        );
      }
    }
    return parts.length === 0 ? '__typename' : parts.join(' ');
  }

  return {
    fragments,
    definitions,
    values,
    selections,
    oneField(type) {
      if (isUnionType(type)) return '__typename';
      return fieldText(random.of(Object.values(type.getFields())), MAX_DEPTH, true);
    },
  };
}

const MISFITS: readonly unknown[] = [null, 7.5, 'text', { no: 'such' }, [[]], true, 2 ** 40];

/** Values of variables. */
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  Int: [1, 2, 3],
  Float: [1.5, 2],
  Boolean: [true, false],
  ID: ['id-1', 'id-2', 3],
  String: ['a', 'b', ''],
};

function inputValue(type: GraphQLInputType, random: Random, depth: number): unknown {
  if (isNonNullType(type)) return inputValue(type.ofType, random, depth);
  if (isListType(type)) {
    return Array.from({ length: random.below(3) }, () => inputValue(type.ofType, random, depth));
  }
  if (isEnumType(type)) return random.of(type.getValues()).name;
  if (!isInputObjectType(type)) return random.of(VALUES[type.name] ?? ['text']);
  const fields = Object.values(type.getFields()).filter(
    (field) => isRequiredInputField(field) || (depth > 0 && random.chance(40)),
  );
  return Object.fromEntries(fields.map(({ name, type: of }) => [name, inputValue(of, random, depth - 1)]));
}

const LEAVES: Readonly<Record<string, readonly string[]>> = {
  Int: ['1', '2', '3'],
  Float: ['1.5', '2'],
  Boolean: ['true', 'false', '$no'],
  ID: ['"id-1"', '"id-2"', '3'],
  String: ['"a"', '"b"', '""'],
};

/** A literal for an argument; deep inputs are cut short. */
function inputText(type: GraphQLInputType, random: Random, depth: number): string {
  if (isNonNullType(type)) return inputText(type.ofType, random, depth);
  if (isListType(type)) {
    const texts = Array.from({ length: random.below(3) }, () => inputText(type.ofType, random, depth));
    return `[${texts.join(', ')}]`;
  }
  if (isEnumType(type)) return random.of(type.getValues()).name;
  if (isInputObjectType(type)) {
    const fields = Object.values(type.getFields())
      .filter((field) => isRequiredInputField(field) || (depth > 0 && random.chance(40)))
      .map(({ name, type: of }) => `${name}: ${inputText(of, random, depth - 1)}`);
    return `{ ${fields.join(', ')} }`;
  }
  return random.of(LEAVES[type.name] ?? ['"text"']);
}
