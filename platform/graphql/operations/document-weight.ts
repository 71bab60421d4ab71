import { type ASTNode, type DocumentNode, type FragmentDefinitionNode, Kind, visit } from 'graphql';

/** Bytes that a node of a parsed document keeps, tokens included. Measured, as is the next. */
const BYTES_PER_NODE = 300;
/** Bytes that a field keeps in plans and compiled code, once for each place where its fragment is spread. */
const BYTES_PER_FIELD = 3_000;
const BYTES_PER_DOCUMENT = 4_000;

/** Estimates the bytes that a document keeps in memory once it was parsed, planned, compiled and run. */
export function documentWeight(document: DocumentNode): number {
  let nodes = 0;
  visit(document, {
    enter() {
      nodes += 1;
    },
  });
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition);
  }
  const fields = document.definitions
    .filter(({ kind }) => kind === Kind.OPERATION_DEFINITION)
    .reduce((sum, operation) => sum + fieldsIn(operation, fragments, new Map()), 0);
  return BYTES_PER_DOCUMENT + nodes * BYTES_PER_NODE + fields * BYTES_PER_FIELD;
}

/** The fields below a node, fragments unfolded; each fragment is walked only once. */
function fieldsIn(
  node: ASTNode,
  fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  known: Map<string, number>,
): number {
  if (node.kind === Kind.FRAGMENT_SPREAD) {
    const name = node.name.value;
    const fragment = fragments.get(name);
    // A fragment that spreads itself, which validation refuses, counts as nothing.
    if (!known.has(name)) known.set(name, 0);
    else return known.get(name) ?? 0;
    if (fragment !== undefined) known.set(name, fieldsIn(fragment, fragments, known));
    return known.get(name) ?? 0;
  }
  const own = node.kind === Kind.FIELD ? 1 : 0;
  if (!('selectionSet' in node) || node.selectionSet === undefined) return own;
  return node.selectionSet.selections.reduce((sum, one) => sum + fieldsIn(one, fragments, known), own);
}
