import type {
  FetchNode,
  PlanNode,
  QueryPlan,
  QueryPlanSelectionNode,
  SubscriptionNode,
} from '@apollo/query-planner';
import { type DocumentNode, Kind, print, type SelectionNode, type SelectionSetNode, visit } from 'graphql';

import { realName, type RequiredNames } from './required-names.ts';

type FindNeeds = RequiredNames['findNeeds'];

/**
 * Makes a plan over `required-names.ts` one that subgraphs understand: fields with a name of their own are asked for under their
 * real name with an alias, and a fetch whose fields need different values of one name becomes one fetch for each.
 */
export function splitRequirements(plan: QueryPlan, findNeeds: FindNeeds): QueryPlan {
  return plan.node === undefined ? plan : { ...plan, node: splitNode(plan.node, findNeeds) };
}

function splitNode<Node extends PlanNode | SubscriptionNode>(node: Node, findNeeds: FindNeeds): Node;
function splitNode(node: PlanNode | SubscriptionNode, findNeeds: FindNeeds): PlanNode | SubscriptionNode {
  const inner = (one: PlanNode): PlanNode => splitNode(one, findNeeds);
  switch (node.kind) {
    case 'Sequence':
    case 'Parallel':
      return { ...node, nodes: node.nodes.map(inner) };
    case 'Flatten':
      return { ...node, node: inner(node.node) };
    case 'Condition':
      return {
        ...node,
        ...(node.ifClause && { ifClause: inner(node.ifClause) }),
        ...(node.elseClause && { elseClause: inner(node.elseClause) }),
      };
    case 'Defer': {
      const { primary, deferred } = node;
      const within = <Part extends { node?: PlanNode }>(part: Part): Part => ({
        ...part,
        ...(part.node && { node: inner(part.node) }),
      });
      return { ...node, primary: within(primary), deferred: deferred.map(within) };
    }
    case 'Subscription':
      return {
        ...node,
        primary: withAliases(node.primary),
        ...(node.rest && { rest: inner(node.rest) }),
      };
    default:
      return splitFetch(withAliases(node), findNeeds);
  }
}

/** Asks for each field under its real name. */
function withAliases(fetch: FetchNode): FetchNode {
  const { operationDocumentNode: document } = fetch;
  if (document === undefined || !fetch.operation.includes('__kiln_')) return fetch;
  const named = visit(document, {
    Field(field) {
      const name = realName(field.name.value);
      if (name === field.name.value) return undefined;
      return { ...field, alias: field.alias ?? field.name, name: { kind: Kind.NAME, value: name } };
    },
  });
  return { ...fetch, operationDocumentNode: named, operation: print(named) };
}

/** Fields that can be computed from one representation, and the names that it takes, by path. */
interface Group {
  readonly names: Map<string, string>;
  readonly fields: Set<SelectionNode>;
}

function splitFetch(fetch: FetchNode, findNeeds: FindNeeds): PlanNode {
  const { requires = [], operationDocumentNode: document } = fetch;
  const definition = document?.definitions[0];
  if (document === undefined || definition?.kind !== Kind.OPERATION_DEFINITION) return fetch;
  const [entities] = definition.selectionSet.selections;
  if (requires.length === 0 || entities?.kind !== Kind.FIELD || entities.selectionSet === undefined)
    return fetch;
  const groups = groupSelections(entities.selectionSet, findNeeds);
  if (groups.length < 2) return fetch;
  const nodes = groups.map((group, index) => {
    const only = onlyFields(document, group);
    const { id, ...rest } = fetch;
    return {
      ...rest,
      // Who waits for the fetch waits for the last one.
      ...(id !== undefined && index === groups.length - 1 && { id }),
      requires: onlyNames(requires, group, allNames(groups)),
      operation: print(only),
      operationDocumentNode: only,
      variableUsages: (fetch.variableUsages ?? []).filter((name) => uses(only, name)),
    };
  });
  return { kind: fetch.id === undefined ? 'Parallel' : 'Sequence', nodes };
}

/** Puts every field into the first group whose names it can take. */
function groupSelections(set: SelectionSetNode, findNeeds: FindNeeds): readonly Group[] {
  const groups: Group[] = [];
  const place = (field: SelectionNode, needs: ReadonlyMap<string, string>): void => {
    const fits = ({ names }: Group) => [...needs].every(([path, name]) => (names.get(path) ?? name) === name);
    const group = groups.find(fits) ?? { names: new Map<string, string>(), fields: new Set<SelectionNode>() };
    if (!groups.includes(group)) groups.push(group);
    for (const [path, name] of needs) group.names.set(path, name);
    group.fields.add(field);
  };
  const visitSet = ({ selections }: SelectionSetNode, type: string): void => {
    for (const one of selections) {
      if (one.kind === Kind.INLINE_FRAGMENT)
        visitSet(one.selectionSet, one.typeCondition?.name.value ?? type);
      else if (one.kind === Kind.FIELD && one.name.value !== '__typename')
        place(one, findNeeds(type, one.name.value));
    }
  };
  visitSet(set, '');
  return groups;
}

/** Every name that any group takes, by path. */
function allNames(groups: readonly Group[]): ReadonlyMap<string, ReadonlySet<string>> {
  const all = new Map<string, Set<string>>();
  for (const { names } of groups)
    for (const [path, name] of names) all.set(path, (all.get(path) ?? new Set()).add(name));
  return all;
}

/** The operation with the entities' fields of a group alone. */
function onlyFields(document: DocumentNode, { fields }: Group): DocumentNode {
  const keep = (set: SelectionSetNode): SelectionSetNode => ({
    ...set,
    selections: set.selections.flatMap((one): readonly SelectionNode[] => {
      if (one.kind !== Kind.INLINE_FRAGMENT)
        return fields.has(one) || (one.kind === Kind.FIELD && one.name.value === '__typename') ? [one] : [];
      const selectionSet = keep(one.selectionSet);
      return selectionSet.selections.length === 0 ? [] : [{ ...one, selectionSet }];
    }),
  });
  const only = visit(document, {
    OperationDefinition(definition) {
      const [entities] = definition.selectionSet.selections;
      if (entities?.kind !== Kind.FIELD || entities.selectionSet === undefined) return undefined;
      const selections = [{ ...entities, selectionSet: keep(entities.selectionSet) }];
      return { ...definition, selectionSet: { ...definition.selectionSet, selections } };
    },
  });
  return visit(only, {
    VariableDefinition: ({ variable }) => (uses(only, variable.name.value) ? undefined : null),
  });
}

function uses(document: DocumentNode, variable: string): boolean {
  let isUsed = false;
  visit(document, {
    VariableDefinition: () => false,
    Variable({ name }) {
      isUsed ||= name.value === variable;
    },
  });
  return isUsed;
}

/** What a group requires: of a field with several names, the one that it takes. */
function onlyNames(
  selections: readonly QueryPlanSelectionNode[],
  group: Group,
  all: ReadonlyMap<string, ReadonlySet<string>>,
  path = '',
): QueryPlanSelectionNode[] {
  return selections.flatMap((one): QueryPlanSelectionNode[] => {
    if (one.kind === 'InlineFragment')
      return [{ ...one, selections: onlyNames(one.selections, group, all, path) }];
    const at = `${path}.${realName(one.name)}`;
    if (all.get(at)?.has(one.name) === true && group.names.get(at) !== one.name) return [];
    if (one.selections === undefined) return [one];
    return [{ ...one, selections: onlyNames(one.selections, group, all, at) }];
  });
}

/** A representation under the names that its subgraph knows. */
export function withRealNames(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withRealNames);
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [realName(name), withRealNames(member)]),
  );
}

/** Whether representations of a fetch have names that its subgraph does not know. */
export function hasOwnNames(requires: readonly QueryPlanSelectionNode[]): boolean {
  return requires.some((one) =>
    one.kind === 'Field' && realName(one.name) !== one.name ? true : hasOwnNames(one.selections ?? []),
  );
}
