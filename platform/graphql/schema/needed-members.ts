import { getNamedType, isObjectType, Kind } from 'graphql';
import type {
  FieldNode,
  FragmentDefinitionNode,
  GraphQLField,
  GraphQLObjectType,
  GraphQLOutputType,
  GraphQLResolveInfo,
  SelectionSetNode,
} from 'graphql';

/**
 * What of the objects of a field an operation needs, so that nothing else is read for it. A field without a resolver reads the
 * member of its name; one with a resolver says by `reads` what it reads, and is taken to read everything where it does not.
 */

/** Whether a member of an object is needed. */
export type IsNeeded = (member: string) => boolean;

/** For the `extensions` of a field: the members of its object that its resolver reads, and no other. */
export function reads<Shape extends object>(
  ...members: readonly (keyof Shape & string)[]
): Reads<keyof Shape & string> {
  return { reads: members };
}

type Reads<Member> = Readonly<Record<'reads', readonly Member[]>>;

/**
 * Makes something of a field's selection once for all executions of its document: what it needs is the same each time, unless
 * @skip or @include put other nodes together.
 */
export function oncePerSelection<Made>(
  make: (info: GraphQLResolveInfo) => Made,
): (info: GraphQLResolveInfo) => Made {
  const known = new WeakMap<FieldNode, { readonly nodes: readonly FieldNode[]; readonly made: Made }>();
  return (info) => {
    const { fieldNodes: nodes } = info;
    const [first] = nodes;
    const found = first === undefined ? undefined : known.get(first);
    if (found !== undefined && areSame(found.nodes, nodes)) return found.made;
    const made = make(info);
    if (first !== undefined) known.set(first, { nodes, made });
    return made;
  };
}

function areSame(some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.length === others.length && some.every((one, index) => one === others[index]);
}

/**
 * What an operation needs of the objects at the end of a path of fields below the one that is resolved; undefined when it does
 * not select them. What @skip and @include leave out counts as selected.
 */
export function neededMembers(
  { fieldNodes, fragments, returnType }: Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments' | 'returnType'>,
  path: readonly string[],
): IsNeeded | undefined {
  let type = unwrapObjectType(returnType);
  let nodes = selectedIn(fieldNodes, fragments);
  for (const name of path) {
    const field = type?.getFields()[name];
    const selected = nodes.filter((node) => node.name.value === name);
    if (field === undefined || selected.length === 0) return undefined;
    type = unwrapObjectType(field.type);
    nodes = selectedIn(selected, fragments);
  }
  const needed = new Set<string>();
  for (const { name } of nodes) {
    const field = type?.getFields()[name.value];
    const members = field === undefined ? [] : readMembers(field);
    if (members === null) return () => true;
    for (const member of members) needed.add(member);
  }
  return (member) => needed.has(member);
}

/** Whether a field with one of these names is selected somewhere below the one that is resolved. */
export function selectsAny(
  { fieldNodes, fragments }: Pick<GraphQLResolveInfo, 'fieldNodes' | 'fragments'>,
  names: ReadonlySet<string>,
): boolean {
  // Each field node once: a document may name a fragment many times over.
  const visited = new Set(fieldNodes);
  for (const node of visited) {
    if (names.has(node.name.value)) return true;
    for (const below of selectedIn([node], fragments)) visited.add(below);
  }
  return false;
}

function unwrapObjectType(type: GraphQLOutputType): GraphQLObjectType | null {
  const named = getNamedType(type);
  return isObjectType(named) ? named : null;
}

/** The members that a field reads; null when that is not known. */
function readMembers({
  name,
  resolve,
  extensions,
}: GraphQLField<unknown, unknown>): readonly string[] | null {
  if (resolve === undefined) return [name];
  return (extensions as Partial<Reads<string>>).reads ?? null;
}

/** All fields that are selected directly in some fields; a fragment is looked into once. */
function selectedIn(
  parents: readonly FieldNode[],
  fragments: Readonly<Record<string, FragmentDefinitionNode>>,
): readonly FieldNode[] {
  const found: FieldNode[] = [];
  const visited = new Set<string>();
  const visit = (set: SelectionSetNode | undefined): void => {
    for (const selection of set?.selections ?? []) {
      if (selection.kind === Kind.FIELD) found.push(selection);
      else if (selection.kind === Kind.INLINE_FRAGMENT) visit(selection.selectionSet);
      else if (!visited.has(selection.name.value)) {
        visited.add(selection.name.value);
        visit(fragments[selection.name.value]?.selectionSet);
      }
    }
  };
  for (const { selectionSet } of parents) visit(selectionSet);
  return found;
}
