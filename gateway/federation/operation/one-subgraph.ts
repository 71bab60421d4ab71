import type { QueryPlan } from '@apollo/query-planner';
import {
  type ConstDirectiveNode,
  type DocumentNode,
  Kind,
  type NamedTypeNode,
  type ObjectTypeDefinitionNode,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  print,
  type SelectionSetNode,
  stripIgnoredCharacters,
  type TypeNode,
} from 'graphql';

/**
 * Plans of queries that one subgraph answers alone: one fetch of the query as it is. Apollo's planner comes to the same, after
 * it has looked for other ways at each field, which is most of what a new document costs.
 */

/** The plan of such a query; null for any other, and for what takes more than a look: fragments, directives, abstract types. */
export type PlanOfOneSubgraph = (operation: OperationDefinitionNode) => QueryPlan | null;

/** A field: the graphs that resolve it by themselves, and its type. */
interface OwnField {
  readonly graphs: ReadonlySet<string>;
  readonly type: string;
}

/** The fields of object types, by the name of their type. */
type OwnFields = ReadonlyMap<string, ReadonlyMap<string, OwnField>>;

/** Versions in which a field without join__field is in every subgraph that has its type. */
const JOIN = /^https:\/\/specs\.apollo\.dev\/join\/v0\.[345]$/;
/** Arguments of join__field that leave a field to be resolved like any other. */
const PLAIN = new Set(['graph', 'type']);

/** Reads which subgraph has what from a supergraph. */
export function planOfOneSubgraph(supergraphSdl: string): PlanOfOneSubgraph {
  const document = parse(supergraphSdl, { noLocation: true });
  if (!isKnown(document)) return () => null;
  const { names, query } = collectNames(document);
  const types = collectFields(document);
  return (operation) => {
    if (operation.operation !== OperationTypeNode.QUERY || hasAny(operation.directives)) return null;
    const graph = findOnlyGraph(types.get(query), operation.selectionSet);
    if (graph === null || !answersAll(types, { graph, type: query }, operation.selectionSet)) return null;
    const name = names.get(graph);
    return name === undefined ? null : createSingleFetchPlan(name, operation);
  };
}

function createSingleFetchPlan(serviceName: string, operation: OperationDefinitionNode): QueryPlan {
  const operationName = operation.name && `${operation.name.value}__${serviceName.replaceAll(/\W/g, '_')}__0`;
  const named: OperationDefinitionNode =
    operationName === undefined
      ? operation
      : { ...operation, name: { kind: Kind.NAME, value: operationName } };
  const document: DocumentNode = { kind: Kind.DOCUMENT, definitions: [named] };
  return {
    kind: 'QueryPlan',
    node: {
      kind: 'Fetch',
      serviceName,
      variableUsages: operation.variableDefinitions?.map(({ variable }) => variable.name.value) ?? [],
      operation: stripIgnoredCharacters(print(document)),
      operationKind: OperationTypeNode.QUERY,
      operationName,
      operationDocumentNode: document,
    },
  };
}

/** The only graph that has the root fields; null where others have one of them too. */
function findOnlyGraph(
  fields: ReadonlyMap<string, OwnField> | undefined,
  { selections }: SelectionSetNode,
): string | null {
  const [first] = selections;
  const graphs = first?.kind === Kind.FIELD ? fields?.get(first.name.value)?.graphs : undefined;
  const [graph = null] = graphs ?? [];
  const isOnly = (name: string): boolean => fields?.get(name)?.graphs.size === 1;
  return selections.every((one) => one.kind === Kind.FIELD && isOnly(one.name.value)) ? graph : null;
}

/** Whether a graph resolves all of a selection, which says each of its names once. */
function answersAll(
  types: OwnFields,
  { graph, type }: { readonly graph: string; readonly type: string },
  { selections }: SelectionSetNode,
): boolean {
  const fields = types.get(type);
  if (fields === undefined) return false;
  const said = new Set<string>();
  return selections.every((one) => {
    if (one.kind !== Kind.FIELD || hasAny(one.directives)) return false;
    const { name, alias = name, selectionSet } = one;
    if (said.has(alias.value)) return false;
    said.add(alias.value);
    const field = fields.get(name.value);
    if (field === undefined || !field.graphs.has(graph)) return name.value === '__typename';
    return selectionSet === undefined || answersAll(types, { graph, type: field.type }, selectionSet);
  });
}

const hasAny = (list: readonly unknown[] | undefined): boolean => list !== undefined && list.length > 0;

function isKnown({ definitions }: DocumentNode): boolean {
  const links = definitions
    .flatMap((one) =>
      one.kind === Kind.SCHEMA_DEFINITION || one.kind === Kind.SCHEMA_EXTENSION ? (one.directives ?? []) : [],
    )
    .filter(({ name }) => name.value === 'link');
  return links.some((link) => JOIN.test(readText(link, 'url') ?? ''));
}

/** The names of subgraphs by those of their graphs, and that of the root type of queries. */
function collectNames({ definitions }: DocumentNode) {
  const names = new Map<string, string>();
  let query = 'Query';
  for (const one of definitions) {
    if (one.kind === Kind.SCHEMA_DEFINITION)
      query =
        one.operationTypes.find(({ operation }) => operation === OperationTypeNode.QUERY)?.type.name.value ??
        query;
    if (one.kind !== Kind.ENUM_TYPE_DEFINITION || one.name.value !== 'join__Graph') continue;
    for (const { name, directives = [] } of one.values ?? []) {
      const called = directives
        .map((directive) => readText(directive, 'name'))
        .find((text) => text !== undefined);
      if (called !== undefined) names.set(name.value, called);
    }
  }
  return { names, query };
}

function collectFields({ definitions }: DocumentNode): OwnFields {
  const types = definitions.filter((one) => one.kind === Kind.OBJECT_TYPE_DEFINITION);
  return new Map(types.map((type) => [type.name.value, ownFields(type)]));
}

function ownFields({
  directives = [],
  fields = [],
}: ObjectTypeDefinitionNode): ReadonlyMap<string, OwnField> {
  const joined = directives.filter(({ name }) => name.value === 'join__type');
  const isObject = joined.every((one) =>
    one.arguments?.every(({ name }) => name.value !== 'isInterfaceObject'),
  );
  const all = new Set(isObject ? joined.map((one) => readText(one, 'graph') ?? '') : []);
  return new Map(
    fields.map((field) => {
      const ways = (field.directives ?? []).filter(({ name }) => name.value === 'join__field');
      const isPlain = ways.every((way) => way.arguments?.every(({ name }) => PLAIN.has(name.value)));
      const named = isPlain ? ways.map((way) => readText(way, 'graph') ?? '') : [];
      const graphs = ways.length === 0 ? all : new Set(named.filter((graph) => all.has(graph)));
      return [field.name.value, { graphs, type: unwrapType(field.type).name.value }];
    }),
  );
}

function unwrapType(type: TypeNode): NamedTypeNode {
  return type.kind === Kind.NAMED_TYPE ? type : unwrapType(type.type);
}

/** An argument that is a text or the name of a graph. */
function readText(directive: ConstDirectiveNode, argument: string): string | undefined {
  const value = directive.arguments?.find(({ name }) => name.value === argument)?.value;
  return value?.kind === Kind.STRING || value?.kind === Kind.ENUM ? value.value : undefined;
}
