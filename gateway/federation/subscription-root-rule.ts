import {
  type FragmentDefinitionNode,
  GraphQLError,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
  type ValidationRule,
} from 'graphql';

/** Refuses @skip and @include on the root of a subscription, which could not be planned without a root field. */
export const SubscriptionRootRule: ValidationRule = (context) => ({
  OperationDefinition(operation) {
    if (operation.operation !== OperationTypeNode.SUBSCRIPTION) return;
    const visited = new Set<FragmentDefinitionNode>();
    if (!isConditional(operation.selectionSet, (name) => unvisited(context.getFragment(name), visited)))
      return;
    context.reportError(
      new GraphQLError('@skip and @include are not allowed at the root of a subscription', {
        nodes: [operation],
      }),
    );
  },
});

function isConditional(
  { selections }: SelectionSetNode,
  fragment: (name: string) => FragmentDefinitionNode | undefined,
): boolean {
  return selections.some((selection) => {
    if (selection.directives?.some(({ name }) => name.value === 'skip' || name.value === 'include'))
      return true;
    if (selection.kind === Kind.FIELD) return false;
    const inner =
      selection.kind === Kind.INLINE_FRAGMENT
        ? selection.selectionSet
        : fragment(selection.name.value)?.selectionSet;
    return inner !== undefined && isConditional(inner, fragment);
  });
}

// Each fragment once: fragments in a circle (which another rule refuses) must end.
function unvisited(
  fragment: FragmentDefinitionNode | null | undefined,
  visited: Set<FragmentDefinitionNode>,
): FragmentDefinitionNode | undefined {
  if (fragment === null || fragment === undefined || visited.has(fragment)) return undefined;
  visited.add(fragment);
  return fragment;
}
