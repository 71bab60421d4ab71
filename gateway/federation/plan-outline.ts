import {
  type DocumentNode,
  getNamedType,
  type GraphQLSchema,
  isLeafType,
  printType,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';

import type { OperationPlan } from './plans.ts';

/** What decides how an operation runs and what its answers hold. */
export interface PlanOutline {
  /** Its plan, and the types of its fields. */
  readonly text: string;
  /** The subgraphs that it asks. */
  readonly subgraphs: readonly string[];
}

/** Outlines a planned operation. */
export function outlinePlan(
  schema: GraphQLSchema,
  document: DocumentNode,
  { plan }: OperationPlan,
): PlanOutline {
  const types = new Set<string>();
  const info = new TypeInfo(schema);
  visit(
    document,
    visitWithTypeInfo(info, {
      Field({ name }) {
        const type = info.getType();
        types.add(`${String(info.getParentType())}.${name.value}: ${String(type)}`);
        const leaf = type && getNamedType(type);
        if (isLeafType(leaf)) types.add(printType(leaf));
      },
      Argument({ name }) {
        types.add(`${name.value}: ${String(info.getInputType())}`);
      },
    }),
  );
  const subgraphs = new Set<string>();
  const text = JSON.stringify(plan, (key, value: unknown) => {
    if (key === 'serviceName') subgraphs.add(String(value));
    return key === 'operationDocumentNode' ? undefined : value;
  });
  return { text: [text, ...[...types].toSorted()].join('\n'), subgraphs: [...subgraphs] };
}
