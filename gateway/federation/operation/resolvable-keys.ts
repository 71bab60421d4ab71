import { type ConstDirectiveNode, Kind, parse, print, visit } from 'graphql';

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
