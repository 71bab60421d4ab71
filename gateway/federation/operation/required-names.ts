import {
  type ConstDirectiveNode,
  type DocumentNode,
  type FieldDefinitionNode,
  type FieldNode,
  type InterfaceTypeDefinitionNode,
  Kind,
  type ObjectTypeDefinitionNode,
  parse,
  print,
  type SelectionSetNode,
  type TypeNode,
  visit,
} from 'graphql';

/**
 * Fields that need one other field with different arguments. A fetch has only one value of a name, and Apollo's planner takes them for one. So
 * each further list of arguments gets a field of its own in the supergraph that is planned, `price__kiln_1` beside `price`; plans ask
 * for it as an alias, and what is sent to who requires it has the real name (split-requirements.ts).
 */
export interface RequiredNames {
  /** The supergraph to plan with; the same text where no field is needed with different arguments. */
  readonly supergraphSdl: string;
  /** What a field needs of those that have several names: by path, the name that it takes. */
  readonly findNeeds: (typeName: string, fieldName: string) => ReadonlyMap<string, string>;
}

const MARK = '__kiln_';

/** The name that subgraphs know. */
export function realName(name: string): string {
  return name.replace(/__kiln_\d+$/, '');
}

type Fielded = ObjectTypeDefinitionNode | InterfaceTypeDefinitionNode;

/** Lists of arguments by field (`Type.field`), in the order in which they are found. */
type Variants = Map<string, string[]>;

const NOTHING: ReadonlyMap<string, string> = new Map();

/** Gives fields that are required with different arguments names of their own. */
export function withRequiredNames(supergraphSdl: string): RequiredNames {
  const unchanged: RequiredNames = { supergraphSdl, findNeeds: () => NOTHING };
  if (!/requires: "[^"]*\(/.test(supergraphSdl)) return unchanged;
  const document = parse(supergraphSdl, { noLocation: true });
  const types = new Map(document.definitions.filter(isFielded).map((one) => [one.name.value, one]));
  const variants = findVariants(types);
  if (variants.size === 0) return unchanged;
  const needs = new Map<string, Map<string, string>>();
  const changed: DocumentNode = {
    ...document,
    definitions: document.definitions.map((one) =>
      isFielded(one) ? withVariants(one, { types, variants, needs }) : one,
    ),
  };
  return {
    supergraphSdl: print(changed),
    findNeeds: (type, field) => needs.get(`${type}.${field}`) ?? NOTHING,
  };
}

function isFielded(node: DocumentNode['definitions'][number]): node is Fielded {
  return node.kind === Kind.OBJECT_TYPE_DEFINITION || node.kind === Kind.INTERFACE_TYPE_DEFINITION;
}

type Types = ReadonlyMap<string, Fielded>;

/** The fields that are required with more than one list of arguments. */
function findVariants(types: Types): Variants {
  const found: Variants = new Map();
  for (const type of types.values()) {
    for (const { set } of parseRequirements(type))
      walk(set, type, types, (owner, { name, arguments: given = [] }) => {
        for (const one of withImplementations(owner, types)) {
          const known = found.get(`${one}.${name.value}`) ?? [];
          const text = given.map(print).toSorted().join(', ');
          if (!known.includes(text)) known.push(text);
          found.set(`${one}.${name.value}`, known);
        }
      });
  }
  return new Map([...found].filter(([, texts]) => texts.length > 1));
}

/** An interface's fields are its objects' as well. */
function withImplementations(owner: Fielded, types: Types): readonly string[] {
  const { value: name } = owner.name;
  const below = [...types.values()].filter((one) => one.interfaces?.some((each) => each.name.value === name));
  return [name, ...below.map((one) => one.name.value)];
}

interface Requirement {
  readonly field: string;
  readonly set: SelectionSetNode;
}

function parseRequirements({ fields = [] }: Fielded): readonly Requirement[] {
  return fields.flatMap(({ name, directives = [] }) =>
    directives.flatMap((directive) => {
      const set = requiredSet(directive);
      return set === null ? [] : [{ field: name.value, set }];
    }),
  );
}

function requiredSet({ name, arguments: given = [] }: ConstDirectiveNode): SelectionSetNode | null {
  const value = given.find((one) => one.name.value === 'requires')?.value;
  if (name.value !== 'join__field' || value?.kind !== Kind.STRING) return null;
  const [operation] = parse(`{ ${value.value} }`, { noLocation: true }).definitions;
  return operation?.kind === Kind.OPERATION_DEFINITION ? operation.selectionSet : null;
}

/** Calls for every field of a requirement, with the type that has it and its path of real names. */
function walk(
  set: SelectionSetNode,
  owner: Fielded,
  types: Types,
  found: (owner: Fielded, field: FieldNode, path: string) => void,
  path = '',
): void {
  for (const one of set.selections) {
    if (one.kind === Kind.FRAGMENT_SPREAD) continue;
    if (one.kind === Kind.INLINE_FRAGMENT) {
      const narrowed = types.get(one.typeCondition?.name.value ?? '') ?? owner;
      walk(one.selectionSet, narrowed, types, found, path);
      continue;
    }
    const at = `${path}.${one.name.value}`;
    found(owner, one, at);
    if (one.selectionSet === undefined) continue;
    const inner = types.get(namedType(owner.fields?.find(({ name }) => name.value === one.name.value)));
    // A union has no fields: its fragments name types that have.
    walk(one.selectionSet, inner ?? owner, types, found, at);
  }
}

function namedType(field: FieldDefinitionNode | undefined): string {
  let type: TypeNode | undefined = field?.type;
  while (type !== undefined && type.kind !== Kind.NAMED_TYPE) type = type.type;
  return type?.name.value ?? '';
}

interface Changing {
  readonly types: Types;
  readonly variants: Variants;
  /** Filled with what each field needs. */
  readonly needs: Map<string, Map<string, string>>;
}

/** The type with a field for each further list of arguments, and requirements that name them. */
function withVariants(type: Fielded, changing: Changing): Fielded {
  const fields = (type.fields ?? []).flatMap((field) => {
    const required = withNamedRequirements(type, field, changing);
    const texts = changing.variants.get(`${type.name.value}.${field.name.value}`) ?? [];
    const further = texts.slice(1).map((_, index) => ({
      ...required,
      name: { kind: Kind.NAME, value: `${field.name.value}${MARK}${index + 1}` } as const,
    }));
    return [required, ...further];
  });
  return { ...type, fields };
}

function withNamedRequirements(
  type: Fielded,
  field: FieldDefinitionNode,
  { types, variants, needs }: Changing,
): FieldDefinitionNode {
  const needed = new Map<string, string>();
  const directives = (field.directives ?? []).map((directive) => {
    const set = requiredSet(directive);
    if (set === null) return directive;
    const names = new Map<FieldNode, string>();
    walk(set, type, types, (owner, one, path) => {
      const texts = variants.get(`${owner.name.value}.${one.name.value}`);
      if (texts === undefined) return;
      const index = texts.indexOf((one.arguments ?? []).map(print).toSorted().join(', '));
      const name = index === 0 ? one.name.value : `${one.name.value}${MARK}${index}`;
      names.set(one, name);
      needed.set(path, name);
    });
    const renamed = visit(set, {
      Field: {
        enter(one) {
          const name = names.get(one);
          return name === undefined ? undefined : { ...one, name: { kind: Kind.NAME, value: name } };
        },
      },
    });
    const text = renamed.selections.map(print).join(' ');
    return {
      ...directive,
      arguments: (directive.arguments ?? []).map((one) =>
        one.name.value === 'requires' ? { ...one, value: { kind: Kind.STRING, value: text } as const } : one,
      ),
    };
  });
  if (needed.size > 0) needs.set(`${type.name.value}.${field.name.value}`, needed);
  return { ...field, directives };
}
