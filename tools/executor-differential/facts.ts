import { Kind, parse, visit, type DirectiveNode, type SelectionSetNode } from 'graphql';

/** What the SDL of all subgraphs together says about entities: what the made-up data must keep to. */
export interface Facts {
  /** The key field paths of a type or interface, in all subgraphs. */
  listKeyPaths(typeName: string): readonly (readonly string[])[];
  /** The object types of an interface with a key, in one order for all subgraphs; the type alone for any other. */
  listForms(typeName: string): readonly string[];
  /** Whether several subgraphs may be asked for a field, which must then say the same. */
  isCommon(typeName: string, fieldName: string): boolean;
  /** The top fields of what a field requires; empty when it requires nothing. */
  requiredBy(subgraph: string, typeName: string, fieldName: string): readonly string[];
}

/** Reads the facts of a federated schema's sources. */
export function collectFacts(subgraphs: Readonly<Record<string, string>>): Facts {
  const keys = new Map<string, string[][]>();
  const owners = new Map<string, Set<string>>();
  const required = new Map<string, readonly string[]>();
  const implementors = new Map<string, Set<string>>();
  const keyed = new Set<string>();
  for (const [subgraph, sdl] of Object.entries(subgraphs)) {
    for (const definition of parse(sdl).definitions) {
      if (!('fields' in definition) || !('interfaces' in definition)) continue;
      const { name, fields = [], directives = [], interfaces = [] } = definition;
      for (const directive of directives) {
        if (directive.name.value !== 'key') continue;
        keys.set(name.value, [...(keys.get(name.value) ?? []), ...collectPaths(fieldsArgument(directive))]);
        if (definition.kind === Kind.INTERFACE_TYPE_DEFINITION) keyed.add(name.value);
      }
      if (definition.kind === Kind.OBJECT_TYPE_DEFINITION) {
        for (const { name: of } of interfaces) entry(implementors, of.value).add(name.value);
      }
      for (const field of fields) {
        const place = `${name.value}.${field.name.value}`;
        entry(owners, place).add(subgraph);
        const requires = field.directives?.find((directive) => directive.name.value === 'requires');
        if (requires === undefined) continue;
        const tops = collectPaths(fieldsArgument(requires)).map(([top = '']) => top);
        required.set(`${subgraph} ${place}`, [...new Set(tops)]);
      }
    }
  }
  return {
    listKeyPaths: (typeName) => keys.get(typeName) ?? [],
    listForms(typeName) {
      for (const [of, names] of implementors) {
        if (keyed.has(of) && (of === typeName || names.has(typeName))) return [...names].toSorted();
      }
      return [typeName];
    },
    isCommon: (typeName, fieldName) => (owners.get(`${typeName}.${fieldName}`)?.size ?? 0) > 1,
    requiredBy: (subgraph, typeName, fieldName) => required.get(`${subgraph} ${typeName}.${fieldName}`) ?? [],
  };
}

function entry<Value>(map: Map<string, Set<Value>>, key: string): Set<Value> {
  const found = map.get(key) ?? new Set<Value>();
  map.set(key, found);
  return found;
}

/** The field set of a directive, as selections. */
function fieldsArgument({ arguments: given = [] }: DirectiveNode): SelectionSetNode {
  const [value] = given.filter(({ name }) => name.value === 'fields').map((argument) => argument.value);
  if (value?.kind !== Kind.STRING) throw new Error('a directive without fields');
  const [operation] = parse(`{ ${value.value} }`).definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error('a field set that is none');
  return operation.selectionSet;
}

/** The path of each leaf of a field set. */
function collectPaths(selectionSet: SelectionSetNode): string[][] {
  const found: string[][] = [];
  const path: string[] = [];
  visit(selectionSet, {
    Field: {
      enter({ name, selectionSet: inner }) {
        path.push(name.value);
        if (inner === undefined) found.push([...path]);
      },
      leave: () => void path.pop(),
    },
  });
  return found;
}
