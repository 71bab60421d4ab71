import {
  getNamedType,
  type GraphQLSchema,
  isAbstractType,
  Kind,
  parse,
  print,
  type SelectionSetNode,
  visit,
} from 'graphql';

/** What fields need of others, by the `requires` of a supergraph's join__field. */
export interface Requirements {
  /** The names of all fields that any field needs: in a representation they stand under these. */
  readonly names: ReadonlySet<string>;
  /** What a field needs with arguments: the path of each such field in the requirement, and its arguments. */
  readonly argumentsOf: (typeName: string, fieldName: string) => ReadonlyMap<string, string>;
}

/** Reads the requirements of a supergraph. */
export function requirementsOf(supergraphSdl: string): Requirements {
  const names = new Set<string>();
  const withArguments = new Map<string, Map<string, string>>();
  visit(parse(supergraphSdl, { noLocation: true }), {
    enter(node) {
      if (node.kind !== Kind.OBJECT_TYPE_DEFINITION && node.kind !== Kind.INTERFACE_TYPE_DEFINITION)
        return node.kind === Kind.DOCUMENT ? undefined : false;
      for (const field of node.fields ?? []) {
        const needed = new Map<string, string>();
        for (const directive of field.directives ?? []) {
          const requires = directive.arguments?.find(({ name }) => name.value === 'requires')?.value;
          if (directive.name.value === 'join__field' && requires?.kind === Kind.STRING)
            read(selectionsOf(requires.value), '', { names, needed });
        }
        if (needed.size > 0) withArguments.set(`${node.name.value}.${field.name.value}`, needed);
      }
      return false;
    },
  });
  return { names, argumentsOf: (type, field) => withArguments.get(`${type}.${field}`) ?? NOTHING };
}

const NOTHING: ReadonlyMap<string, string> = new Map();

function selectionsOf(fieldSet: string): SelectionSetNode {
  const [operation] = parse(`{ ${fieldSet} }`, { noLocation: true }).definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error(`no field set: ${fieldSet}`);
  return operation.selectionSet;
}

function read(
  { selections }: SelectionSetNode,
  path: string,
  into: { readonly names: Set<string>; readonly needed: Map<string, string> },
): void {
  for (const selection of selections) {
    if (selection.kind === Kind.FRAGMENT_SPREAD) continue;
    if (selection.kind === Kind.INLINE_FRAGMENT) {
      read(selection.selectionSet, path, into);
      continue;
    }
    const { name, arguments: given = [], selectionSet } = selection;
    const at = `${path}.${name.value}`;
    into.names.add(name.value);
    if (given.length > 0) into.needed.set(at, given.map(print).toSorted().join(', '));
    if (selectionSet !== undefined) read(selectionSet, at, into);
  }
}

/** The object types that an object of a type may be of, in the schema that callers see. */
export function typesUnder(
  schema: GraphQLSchema,
  type: Parameters<typeof getNamedType>[0],
): readonly string[] {
  const named = getNamedType(type);
  if (!named) return [];
  return [
    named.name,
    ...(isAbstractType(named) ? schema.getPossibleTypes(named).map(({ name }) => name) : []),
  ];
}
