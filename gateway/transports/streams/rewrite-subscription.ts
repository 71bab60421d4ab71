import {
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  getNamedType,
  type GraphQLObjectType,
  isInterfaceType,
  isObjectType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
  visit,
} from 'graphql';

/** How streams say where they are, and are told where to go on. */
export interface ResumePoint {
  /** The argument of the root field that says where to go on, and its type. */
  readonly argument: string;
  readonly type: string;
  /** Our variable for it, where the document has none. */
  readonly variable: string;
  /** Fields that an event must have, each with our alias for it. */
  readonly aliases: Readonly<Record<string, string>>;
}

interface Rewritten {
  readonly document: DocumentNode;
  /** The variable for the point: the client's own where its document has one for nothing else. */
  readonly variable: string;
}

/** Selects where each event is, and asks for what follows; undefined when no root field goes by this point. */
export function rewriteSubscription(options: {
  readonly document: DocumentNode;
  readonly root: GraphQLObjectType;
  readonly point: ResumePoint;
  readonly isResuming: boolean;
}): Rewritten | undefined {
  const { document, root, point, isResuming } = options;
  let variable: string | undefined;
  const uses = usesOfVariables(document);

  const rewriteSelections = (set: SelectionSetNode): SelectionSetNode => ({
    ...set,
    selections: set.selections.map((selection): SelectionNode => {
      if (selection.kind === Kind.FRAGMENT_SPREAD) return selection;
      if (selection.kind === Kind.INLINE_FRAGMENT) {
        return { ...selection, selectionSet: rewriteSelections(selection.selectionSet) };
      }
      if (!goesBy(point, root, selection.name.value)) return selection;
      const own = findVariable(selection, point);
      // One that stands elsewhere too keeps its value there.
      variable = own !== undefined && uses.get(own) === 1 ? own : point.variable;
      return markField(selection, point, isResuming ? variable : undefined);
    }),
  });

  const definitions = document.definitions.map((definition) => {
    // The root field may be in a fragment on the Subscription type.
    const isRoot =
      definition.kind === Kind.OPERATION_DEFINITION ||
      (definition.kind === Kind.FRAGMENT_DEFINITION && definition.typeCondition.name.value === root.name);
    return isRoot ? { ...definition, selectionSet: rewriteSelections(definition.selectionSet) } : definition;
  });
  if (variable === undefined) return undefined;
  const isOurs = isResuming && variable === point.variable;
  return {
    variable,
    document: {
      ...document,
      definitions: isOurs ? definitions.map((definition) => declareVariable(definition, point)) : definitions,
    },
  };
}

/** How often each variable is used, its declaration aside. */
function usesOfVariables(document: DocumentNode): ReadonlyMap<string, number> {
  const uses = new Map<string, number>();
  visit(document, {
    VariableDefinition: () => false,
    Variable: ({ name: { value } }) => void uses.set(value, (uses.get(value) ?? 0) + 1),
  });
  return uses;
}

function findVariable(field: FieldNode, { argument: name }: ResumePoint): string | undefined {
  const value = field.arguments?.find((argument) => argument.name.value === name)?.value;
  return value?.kind === Kind.VARIABLE ? value.name.value : undefined;
}

function goesBy({ argument, aliases }: ResumePoint, root: GraphQLObjectType, name: string): boolean {
  const field = root.getFields()[name];
  if (!field?.args.some((one) => one.name === argument)) return false;
  const type = getNamedType(field.type);
  if (!isObjectType(type) && !isInterfaceType(type)) return false;
  const fields = type.getFields();
  return Object.keys(aliases).every((one) => fields[one] !== undefined);
}

function markField(field: FieldNode, point: ResumePoint, variable: string | undefined): FieldNode {
  const marks = Object.entries(point.aliases).map(([name, alias]): FieldNode => {
    return { kind: Kind.FIELD, alias: createName(alias), name: createName(name) };
  });
  const others = field.arguments?.filter((argument) => argument.name.value !== point.argument) ?? [];
  return {
    ...field,
    ...(variable === undefined ? {} : { arguments: [...others, createArgument(point, variable)] }),
    selectionSet: {
      kind: Kind.SELECTION_SET,
      selections: [...(field.selectionSet?.selections ?? []), ...marks],
    },
  };
}

function createArgument({ argument }: ResumePoint, variable: string): ArgumentNode {
  const value = { kind: Kind.VARIABLE, name: createName(variable) } as const;
  return { kind: Kind.ARGUMENT, name: createName(argument), value };
}

function declareVariable(
  definition: DocumentNode['definitions'][number],
  { variable, type }: ResumePoint,
): DocumentNode['definitions'][number] {
  if (definition.kind !== Kind.OPERATION_DEFINITION) return definition;
  return {
    ...definition,
    variableDefinitions: [
      ...(definition.variableDefinitions ?? []),
      {
        kind: Kind.VARIABLE_DEFINITION,
        variable: { kind: Kind.VARIABLE, name: createName(variable) },
        type: { kind: Kind.NAMED_TYPE, name: createName(type) },
      },
    ],
  };
}

function createName(value: string): { readonly kind: Kind.NAME; readonly value: string } {
  return { kind: Kind.NAME, value };
}
