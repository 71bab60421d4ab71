import { Kind, type SelectionSetNode } from 'graphql';

import type { OperationContext } from './operation-context.ts';

/** Names of an operation's root fields, each once. Fragments of a valid document have no circles. */
export function rootFieldsOf({ operation, fragments }: OperationContext): readonly string[] {
  const names = new Set<string>();
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) names.add(selection.name.value);
      else if (selection.kind === Kind.INLINE_FRAGMENT) collect(selection.selectionSet);
      else
        collect(
          fragments[selection.name.value]?.selectionSet ?? { kind: Kind.SELECTION_SET, selections: [] },
        );
    }
  };
  collect(operation.selectionSet);
  return [...names];
}
