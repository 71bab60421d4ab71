import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  getNamedType,
  getNullableType,
  GraphQLError,
  type GraphQLField,
  type GraphQLNamedType,
  isInterfaceType,
  isListType,
  isObjectType,
  Kind,
  NoSchemaIntrospectionCustomRule,
  parse,
  type SelectionSetNode,
  type ValidationContext,
  type ValidationRule,
} from 'graphql';

import {
  MAX_NESTING,
  measureNesting,
  SIZE_ARGUMENTS,
} from '../../platform/graphql/operations/inspect-document.ts';
import { type DocumentShape, measureDocument } from './document-shape.ts';
import { type LimitName, refusal } from './refusal.ts';

/** Limits of a GraphQL document, on every transport. */
const LIMITS = {
  /** Characters of the query text. */
  maxQueryLength: 100_000,
  /** Lexical tokens; the standard introspection query has about 250. */
  maxTokens: 4_000,
  /** Operations in one document. */
  maxOperations: 20,
  /** Depth of nested fields, without introspection. */
  maxDepth: 15,
  maxAliases: 30,
  /** Root fields of one operation. */
  maxRootFields: 20,
  /** All fields, fragments unfolded. */
  maxFields: 2_000,
  /** Depth of nested introspection lists. */
  maxIntrospectionDepth: 3,
  /** As the rule of costs counts them. */
  maxCost: 50_000,
};

/** Whether introspection is allowed, and limits other than the defaults. */
export type QueryLimitOptions = Partial<typeof LIMITS> & { readonly introspection: boolean };

/** The limits that every transport applies. */
export type QueryLimits = ReturnType<typeof createQueryLimits>;

/** Makes the document limits; one instance serves all transports. */
export function createQueryLimits({ introspection, ...changed }: QueryLimitOptions) {
  const limits = { ...LIMITS, ...changed };
  return {
    /** The limits that need the schema, for validation. */
    validationRules: [
      createCostRule(limits.maxCost),
      ...(introspection ? [] : [NoSchemaIntrospectionCustomRule]),
    ],
    /**
     * Parses a query text and checks it before validation (whose time may grow with the square of the text): the
     * document, or its refusal. An unparsable text is GRAPHQL_PARSE_FAILED.
     */
    parse(query: string): DocumentNode | GraphQLError {
      if (query.length > limits.maxQueryLength) {
        return refusal('query-length', limits.maxQueryLength, query.length);
      }
      const nesting = measureNesting(query);
      if (nesting > MAX_NESTING) return refusal('nesting', MAX_NESTING, nesting);
      const document = parseBounded(query, limits.maxTokens);
      return document instanceof GraphQLError ? document : (findExcess(document, limits) ?? document);
    },
  };
}

function parseBounded(query: string, maxTokens: number): DocumentNode | GraphQLError {
  try {
    return parse(query, { maxTokens });
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    if (error.message.endsWith('tokens. Parsing aborted.')) {
      return refusal('tokens', maxTokens, `more than ${maxTokens}`);
    }
    return new GraphQLError(error.message, {
      source: error.source ?? null,
      positions: error.positions ?? null,
      extensions: { code: 'GRAPHQL_PARSE_FAILED' },
    });
  }
}

function findExcess(document: DocumentNode, limits: typeof LIMITS): GraphQLError | undefined {
  const shape = measureDocument(document);
  const allowed: readonly [LimitName, keyof DocumentShape, number][] = [
    ['operations', 'operations', limits.maxOperations],
    ['depth', 'depth', limits.maxDepth],
    ['aliases', 'aliases', limits.maxAliases],
    ['root-fields', 'rootFields', limits.maxRootFields],
    ['fields', 'fields', limits.maxFields],
    ['introspection-depth', 'introspectionDepth', limits.maxIntrospectionDepth],
  ];
  const exceeded = allowed.find(([, measure, most]) => shape[measure] > most);
  return exceeded === undefined ? undefined : refusal(exceeded[0], exceeded[2], shape[exceeded[1]]);
}

/** Assumed size when a variable gives it: documents are validated before their variables are known. */
const SIZE_OF_VARIABLE = 100;
/** Assumed length of a list whose field takes no size. */
const SIZE_OF_LIST = 5;

/**
 * Refuses costly operations: each field costs 1, and the selection below a list costs its sum times the length of the
 * list. A validation rule, because it needs the schema.
 */
function createCostRule(maxCost: number): ValidationRule {
  return (context) => {
    const computeCost = createCost(context);
    return {
      OperationDefinition(operation) {
        const root = context.getSchema().getRootType(operation.operation);
        if (!root) return;
        const cost = computeCost(operation.selectionSet, root, false);
        if (cost > maxCost) context.reportError(refusal('cost', maxCost, cost));
      },
    };
  };
}

type Cost = (selectionSet: SelectionSetNode, type: GraphQLNamedType, isSized: boolean) => number;

function createCost(context: ValidationContext): Cost {
  const ofSized = new Map<FragmentDefinitionNode, number>();
  const ofOthers = new Map<FragmentDefinitionNode, number>();

  function costOfFragment(name: string, isSized: boolean): number {
    const fragment = context.getFragment(name);
    if (!fragment) return 0;
    const known = isSized ? ofSized : ofOthers;
    const found = known.get(fragment);
    if (found !== undefined) return found;
    known.set(fragment, 0);
    const type = context.getSchema().getType(fragment.typeCondition.name.value);
    const cost = type === undefined ? 0 : computeCost(fragment.selectionSet, type, isSized);
    known.set(fragment, cost);
    return cost;
  }

  function costOfField(node: FieldNode, type: GraphQLNamedType, isSized: boolean): number {
    const field = findField(type, node.name.value);
    if (field === undefined || node.selectionSet === undefined) return 1;
    const size = readListSize(node, field);
    const isList = isListType(getNullableType(field.type));
    // `tasks(first: 50) { edges { ... } }`: the connection has the size, so its list is not counted again.
    const times = size ?? (isList && !isSized ? SIZE_OF_LIST : 1);
    return (
      1 + times * computeCost(node.selectionSet, getNamedType(field.type), size !== undefined && !isList)
    );
  }

  const computeCost: Cost = (selectionSet, type, isSized) => {
    let cost = 0;
    for (const selection of selectionSet.selections) {
      if (selection.kind === Kind.FIELD) cost += costOfField(selection, type, isSized);
      else if (selection.kind === Kind.FRAGMENT_SPREAD) cost += costOfFragment(selection.name.value, isSized);
      else {
        const name = selection.typeCondition?.name.value;
        const inner = name === undefined ? type : (context.getSchema().getType(name) ?? type);
        cost += computeCost(selection.selectionSet, inner, isSized);
      }
    }
    return cost;
  };
  return computeCost;
}

function findField(type: GraphQLNamedType, name: string): GraphQLField<unknown, unknown> | undefined {
  return isObjectType(type) || isInterfaceType(type) ? type.getFields()[name] : undefined;
}

/** The largest that is given, else the first that is assumed. */
function readListSize(node: FieldNode, field: GraphQLField<unknown, unknown>): number | undefined {
  const sizes = field.args.filter(({ name }) => SIZE_ARGUMENTS.includes(name));
  const given = sizes.flatMap(({ name }) => {
    const value = node.arguments?.find((argument) => argument.name.value === name)?.value;
    if (value?.kind === Kind.INT) return [Math.max(0, Number(value.value))];
    return value?.kind === Kind.VARIABLE ? [SIZE_OF_VARIABLE] : [];
  });
  if (given.length > 0) return Math.max(...given);
  return sizes.map(({ defaultValue }) => defaultValue).find((value) => typeof value === 'number');
}
