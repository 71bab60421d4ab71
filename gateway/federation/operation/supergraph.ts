import { Kind, parse, type SelectionSetNode, visit, type ConstDirectiveNode, print } from 'graphql';

/** What fields need of others, by the `requires` of a supergraph's join__field. */
export interface Requirements {
  /** The names of all fields that any field needs: in a representation they stand under these. */
  readonly names: ReadonlySet<string>;
}

/** Reads the requirements of a supergraph. */
export function readRequirements(supergraphSdl: string): Requirements {
  const names = new Set<string>();
  visit(parse(supergraphSdl, { noLocation: true }), {
    enter(node) {
      if (node.kind !== Kind.OBJECT_TYPE_DEFINITION && node.kind !== Kind.INTERFACE_TYPE_DEFINITION)
        return node.kind === Kind.DOCUMENT ? undefined : false;
      for (const { directives = [] } of node.fields ?? []) {
        for (const directive of directives) {
          const requires = directive.arguments?.find(({ name }) => name.value === 'requires')?.value;
          if (directive.name.value === 'join__field' && requires?.kind === Kind.STRING)
            read(parseFieldSet(requires.value), names);
        }
      }
      return false;
    },
  });
  return { names };
}

function parseFieldSet(fieldSet: string): SelectionSetNode {
  const [operation] = parse(`{ ${fieldSet} }`, { noLocation: true }).definitions;
  if (operation?.kind !== Kind.OPERATION_DEFINITION) throw new Error(`no field set: ${fieldSet}`);
  return operation.selectionSet;
}

function read({ selections }: SelectionSetNode, names: Set<string>): void {
  for (const selection of selections) {
    if (selection.kind === Kind.FRAGMENT_SPREAD) continue;
    if (selection.kind === Kind.FIELD) names.add(selection.name.value);
    if (selection.selectionSet !== undefined) read(selection.selectionSet, names);
  }
}

/**
 * The supergraph without keys that a subgraph can't resolve, where it has one for the same type that it can: Apollo's planner takes
 * any key for coming back to a subgraph, and the subgraph then can't find the entity.
 */
export function withResolvableKeys(supergraphSdl: string): string {
  if (!supergraphSdl.includes('resolvable: false')) return supergraphSdl;
  let isChanged = false;
  const document = visit(parse(supergraphSdl, { noLocation: true }), {
    enter(node) {
      if (node.kind === Kind.DOCUMENT) return undefined;
      if (node.kind !== Kind.OBJECT_TYPE_DEFINITION && node.kind !== Kind.INTERFACE_TYPE_DEFINITION)
        return false;
      const joined = (node.directives ?? []).filter(({ name }) => name.value === 'join__type');
      const resolvable = new Set(
        joined
          .filter((one) => readText(one, 'key') !== undefined && isResolvable(one))
          .map((one) => readText(one, 'graph')),
      );
      const directives = node.directives?.filter(
        (one) => !(joined.includes(one) && !isResolvable(one) && resolvable.has(readText(one, 'graph'))),
      );
      if (directives?.length === node.directives?.length) return false;
      isChanged = true;
      return { ...node, directives };
    },
  });
  return isChanged ? print(document) : supergraphSdl;
}

function isResolvable(directive: ConstDirectiveNode): boolean {
  return readText(directive, 'resolvable') !== 'false';
}

function readText({ arguments: given = [] }: ConstDirectiveNode, name: string): string | undefined {
  const value = given.find((one) => one.name.value === name)?.value;
  return value === undefined ? undefined : print(value);
}
