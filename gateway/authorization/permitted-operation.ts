import {
  type DocumentNode,
  type FieldNode,
  getNamedType,
  type GraphQLNamedType,
  type GraphQLSchema,
  isNonNullType,
  Kind,
  OperationTypeNode,
  type SelectionNode,
  type SelectionSetNode,
  TypeNameMetaFieldDef,
} from 'graphql';

import { type OperationContext, operationContext } from '../federation/operation/operation-context.ts';
import type { Requirement, Rights, SecurityRules } from './security-rules.ts';

/** A field that a caller may not see. */
export interface DeniedField {
  /** Names in the answer, without the indices of lists. */
  readonly path: readonly string[];
  /** Whether its null takes its parent with it. */
  readonly isNonNull: boolean;
}

/** An operation without what its caller may not see. */
interface PermittedOperation {
  /** The document to plan. */
  readonly document: DocumentNode;
  readonly denied: readonly DeniedField[];
  /** Whether it is a subscription of which nothing is left. */
  readonly isRefused: boolean;
}

/** Most variants of one document that are kept. */
const MAX_VARIANTS = 100;

interface Known {
  /** What any of its fields needs. */
  readonly needed: readonly Requirement[];
  /** By what is lacking. */
  readonly variants: Map<string, PermittedOperation>;
}

/** Decides by a supergraph's rules what of an operation a caller may see. */
export function createAuthorization(rules: SecurityRules) {
  const known = new WeakMap<DocumentNode, Map<string | undefined, Known>>();
  return {
    /** Null where the caller may see all of it. */
    permit(
      request: {
        readonly schema: GraphQLSchema;
        readonly document: DocumentNode;
        readonly operationName: string | undefined;
      },
      rights: Rights,
    ): PermittedOperation | null {
      const { schema, document, operationName } = request;
      const ofDocument = known.get(document) ?? new Map<string | undefined, Known>();
      known.set(document, ofDocument);
      let its = ofDocument.get(operationName);
      if (its === undefined) {
        const needed = new Map<string, Requirement>();
        filtered(operationContext({ schema, document, operationName }), (parent, name) => {
          for (const one of rules.of(schema, parent, name)) needed.set(one.key, one);
          return true;
        });
        its = { needed: [...needed.values()], variants: new Map() };
        ofDocument.set(operationName, its);
      }
      const lacking = its.needed.filter(({ isMet }) => !isMet(rights));
      if (lacking.length === 0) return null;
      const key = lacking.map((one) => one.key).join('\n');
      const variant = its.variants.get(key);
      if (variant !== undefined) return variant;
      const keys = new Set(lacking.map((one) => one.key));
      const made = filtered(operationContext(request), (parent, name) =>
        rules.of(schema, parent, name).every((one) => !keys.has(one.key)),
      );
      if (its.variants.size >= MAX_VARIANTS) its.variants.clear();
      its.variants.set(key, made);
      return made;
    },
  };
}

type IsPermitted = (parent: GraphQLNamedType, fieldName: string) => boolean;

/** The operation with its fragments unfolded, without the fields that are not permitted. */
function filtered(
  { schema, operation, fragments }: OperationContext,
  isPermitted: IsPermitted,
): PermittedOperation {
  const denied: DeniedField[] = [];
  const permitSet = (
    set: SelectionSetNode,
    parent: GraphQLNamedType,
    path: readonly string[],
  ): SelectionSetNode => {
    const selections = set.selections.flatMap((one) => permitSelection(one, parent, path));
    return { kind: Kind.SELECTION_SET, selections: selections.length > 0 ? selections : [TYPENAME] };
  };
  const permitSelection = (
    selection: SelectionNode,
    parent: GraphQLNamedType,
    path: readonly string[],
  ): SelectionNode[] => {
    if (selection.kind === Kind.FIELD) return permitField(selection, parent, path);
    const { directives = [] } = selection;
    const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : fragments[selection.name.value];
    if (fragment === undefined) return [];
    const { typeCondition, selectionSet } = fragment;
    const type = typeCondition && schema.getType(typeCondition.name.value);
    const inner = permitSet(selectionSet, type ?? parent, path);
    const condition = typeCondition === undefined ? {} : { typeCondition };
    return [{ kind: Kind.INLINE_FRAGMENT, directives, ...condition, selectionSet: inner }];
  };
  const permitField = (field: FieldNode, parent: GraphQLNamedType, path: readonly string[]): FieldNode[] => {
    const { name, alias = name, selectionSet } = field;
    if (name.value.startsWith('__')) return [field];
    const definition = 'getFields' in parent ? parent.getFields()[name.value] : undefined;
    const type = definition?.type;
    const at = [...path, alias.value];
    if (!isPermitted(parent, name.value)) {
      denied.push({ path: at, isNonNull: isNonNullType(type) });
      return [];
    }
    if (selectionSet === undefined || type === undefined || !('ofType' in type || 'name' in type))
      return [field];
    return [{ ...field, selectionSet: permitSet(selectionSet, getNamedType(type), at) }];
  };
  const root = schema.getRootType(operation.operation);
  if (!root) throw new Error(`the schema has no ${operation.operation}`);
  const selectionSet = permitSet(operation.selectionSet, root, []);
  const isRefused =
    operation.operation === OperationTypeNode.SUBSCRIPTION && denied.some(({ path }) => path.length === 1);
  return {
    denied,
    isRefused,
    document: { kind: Kind.DOCUMENT, definitions: [{ ...operation, selectionSet }] },
  };
}

const TYPENAME: FieldNode = { kind: Kind.FIELD, name: { kind: Kind.NAME, value: TypeNameMetaFieldDef.name } };
