import { type FragmentDefinitionNode, Kind, type OperationDefinitionNode } from 'graphql';

/** The names of the root fields of an operation, fragments unfolded, each as often as it is asked. */
export function rootFieldsOf(
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
