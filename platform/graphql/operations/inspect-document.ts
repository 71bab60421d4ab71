import {
  type ASTNode,
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  visit,
  type OperationDefinitionNode,
} from 'graphql';

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

/** How deep texts and values nest, found without recursion: parsers and walkers of what nests too deep overflow. */

/** Deepest nesting of brackets in a document, and of lists and objects in its variables. */
export const MAX_NESTING = 64;

/** Strings, block strings and comments, in which brackets mean nothing; then the brackets. */
const TOKENS = /"""(?:[^"\\]|\\"""|\\|"(?!""))*(?:"""|$)|"(?:[^"\\\n]|\\.)*"?|#[^\n\r]*|[[{(]|[\]})]/g;

/** The deepest nesting of brackets in a GraphQL text. */
export function measureNesting(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [token] of text.matchAll(TOKENS)) {
    if ('[{('.includes(token)) deepest = Math.max(deepest, (depth += 1));
    else if (']})'.includes(token)) depth -= 1;
  }
  return deepest;
}

/** Whether lists and objects of a value nest deeper than `max`. */
export function nestsDeeperThan(value: unknown, max: number): boolean {
  let level: unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    const inner = level.filter((item) => typeof item === 'object' && item !== null && isPlain(item));
    if (inner.length > 0 && depth === max) return true;
    level = inner.flatMap((item) => Object.values(item as object) as unknown[]);
  }
  return false;
}

/** Lists and objects of JSON; uploads are neither. */
function isPlain(value: object): boolean {
  return Array.isArray(value) || [Object.prototype, null].includes(Object.getPrototypeOf(value) as null);
}

/** The names of the root fields of an operation, fragments unfolded, each as often as it is asked. */
export function listRootFields(
  { selectionSet }: OperationDefinitionNode,
  fragmentNamed: (name: string) => FragmentDefinitionNode | undefined,
): readonly string[] {
  const names: string[] = [];
  const walked = new Set<string>();
  const pending = [selectionSet];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const selection of next.selections) {
      if (selection.kind === Kind.FIELD) names.push(selection.name.value);
      else if (selection.kind === Kind.INLINE_FRAGMENT) pending.push(selection.selectionSet);
      else if (!walked.has(selection.name.value)) {
        walked.add(selection.name.value);
        const fragment = fragmentNamed(selection.name.value);
        if (fragment !== undefined) pending.push(fragment.selectionSet);
      }
    }
  }
  return names;
}

/** Arguments for the number of entries of a field: what a document costs depends on them. */
export const SIZE_ARGUMENTS: readonly string[] = ['first', 'last', 'limit', 'pageSize'];

/** Matches documents that may use @defer. */
export const DEFERS = /@\s*defer/;
