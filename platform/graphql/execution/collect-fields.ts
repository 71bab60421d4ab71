import { isAbstractType, Kind, typeFromAST } from 'graphql';
import type {
  DirectiveNode,
  FieldNode,
  FragmentDefinitionNode,
  GraphQLObjectType,
  GraphQLSchema,
  InlineFragmentNode,
  SelectionNode,
  SelectionSetNode,
} from 'graphql';

/** What the fields of one operation are compiled with, under one vector of conditions. */
export interface Compiling {
  readonly schema: GraphQLSchema;
  readonly fragments: Record<string, FragmentDefinitionNode>;
  /** The values of the variables that @skip and @include use. */
  readonly conditions: Readonly<Record<string, boolean>>;
  /** A number for a field, unlike that of any other in the operation. */
  readonly nextNumber: () => number;
}

/** The fields of an object of a runtime type by response name, in order; each with all its nodes. */
export function collectFields(
  sets: readonly SelectionSetNode[],
  type: GraphQLObjectType,
  compiling: Compiling,
): Map<string, FieldNode[]> {
  const fields = new Map<string, FieldNode[]>();
  const visited = new Set<string>();
  const visit = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (isLeftOut(selection, compiling.conditions)) continue;
      if (selection.kind === Kind.FIELD) {
        const name = (selection.alias ?? selection.name).value;
        const known = fields.get(name);
        if (known === undefined) fields.set(name, [selection]);
        else known.push(selection);
        continue;
      }
      const fragment = findFragment(selection, { visited, compiling });
      if (fragment !== undefined && applies(fragment, type, compiling.schema)) visit(fragment.selectionSet);
    }
  };
  for (const set of sets) visit(set);
  return fields;
}

/** A spread fragment counts once, as graphql-js has it. */
function findFragment(
  selection: Exclude<SelectionNode, FieldNode>,
  { visited, compiling }: { readonly visited: Set<string>; readonly compiling: Compiling },
): FragmentDefinitionNode | InlineFragmentNode | undefined {
  if (selection.kind === Kind.INLINE_FRAGMENT) return selection;
  const name = selection.name.value;
  if (visited.has(name)) return undefined;
  visited.add(name);
  return compiling.fragments[name];
}

function applies(
  { typeCondition }: FragmentDefinitionNode | InlineFragmentNode,
  type: GraphQLObjectType,
  schema: GraphQLSchema,
): boolean {
  if (typeCondition === undefined) return true;
  const condition = typeFromAST(schema, typeCondition);
  return condition === type || (isAbstractType(condition) && schema.isSubType(condition, type));
}

function isLeftOut({ directives = [] }: SelectionNode, conditions: Compiling['conditions']): boolean {
  const skip = directives.find(({ name }) => name.value === 'skip');
  const include = directives.find(({ name }) => name.value === 'include');
  return (
    (skip !== undefined && holds(skip, conditions)) || (include !== undefined && !holds(include, conditions))
  );
}

function holds(
  { arguments: directiveArguments = [] }: DirectiveNode,
  conditions: Compiling['conditions'],
): boolean {
  const value = directiveArguments.find(({ name }) => name.value === 'if')?.value;
  if (value?.kind === Kind.VARIABLE) return conditions[value.name.value] === true;
  return value?.kind === Kind.BOOLEAN && value.value;
}
