import {
  Kind,
  parse,
  print,
  validate,
  visit,
  type ASTNode,
  type DocumentNode,
  type GraphQLSchema,
  type SelectionSetNode,
} from 'graphql';

/** Whether an operation still shows what is looked for. */
export type Shows = (query: string) => Promise<boolean>;

/** The smallest operation that still shows a difference: parts are left out one at a time while it does. */
export async function shrunken(query: string, schema: GraphQLSchema, shows: Shows): Promise<string> {
  let smallest = print(parse(query));
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false;
    for (const candidate of smallerOnes(smallest)) {
      if (candidate.length >= smallest.length || !isValid(candidate, schema)) continue;
      if (!(await shows(candidate))) continue;
      smallest = candidate;
      isSmaller = true;
      break;
    }
  }
  return smallest;
}

function isValid(query: string, schema: GraphQLSchema): boolean {
  return validate(schema, parse(query)).length === 0;
}

/** The operation without one selection, alias, argument, directive or fragment, larger parts first. */
function* smallerOnes(query: string): Generator<string> {
  const document = parse(query, { noLocation: true });
  const nodes: ASTNode[] = [];
  visit(document, { enter: (node) => void nodes.push(node) });
  for (const node of nodes) {
    const changed = withoutPart(document, node);
    if (changed !== null) yield print(withoutUnused(changed));
  }
}

function withoutPart(document: DocumentNode, part: ASTNode): DocumentNode | null {
  switch (part.kind) {
    case Kind.FIELD:
    case Kind.FRAGMENT_SPREAD:
    case Kind.INLINE_FRAGMENT:
      return (
        replaced(document, part, null) ?? (part.kind === Kind.FIELD ? withoutAlias(document, part) : null)
      );
    case Kind.ARGUMENT:
    case Kind.DIRECTIVE:
    case Kind.VARIABLE_DEFINITION:
      return replaced(document, part, null);
    default:
      return null;
  }
}

function withoutAlias(document: DocumentNode, part: ASTNode & { kind: Kind.FIELD }): DocumentNode | null {
  const { alias, ...field } = part;
  return alias === undefined ? null : replaced(document, part, field);
}

/** The document with a node left out or replaced; null when a selection set would be empty. */
function replaced(document: DocumentNode, old: ASTNode, other: ASTNode | null): DocumentNode | null {
  let isEmpty = false;
  const changed: DocumentNode = visit(document, {
    enter: (node) => (node === old ? other : undefined),
    SelectionSet: {
      leave({ selections }: SelectionSetNode) {
        if (selections.length === 0) isEmpty = true;
      },
    },
  });
  return isEmpty ? null : changed;
}

/** Without fragments that nothing spreads (any more) and variables that nothing uses. */
function withoutUnused(document: DocumentNode): DocumentNode {
  const spread = new Set<string>();
  visit(document, { FragmentSpread: ({ name }) => void spread.add(name.value) });
  const definitions = document.definitions.filter(
    (definition) => definition.kind !== Kind.FRAGMENT_DEFINITION || spread.has(definition.name.value),
  );
  if (definitions.length < document.definitions.length) return withoutUnused({ ...document, definitions });
  const used = new Set<string>();
  visit(document, {
    VariableDefinition: () => false,
    Variable: ({ name }) => void used.add(name.value),
  });
  return visit(document, {
    VariableDefinition: ({ variable }) => (used.has(variable.name.value) ? undefined : null),
  });
}
