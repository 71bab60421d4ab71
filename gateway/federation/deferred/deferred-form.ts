import {
  type DirectiveNode,
  type DocumentNode,
  type FieldNode,
  type InlineFragmentNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  visit,
} from 'graphql';

import { operationContext, type OperationContext } from '../operation/operation-context.ts';

/** An operation with @defer, taken apart: what is answered first, and each part that follows. */
export interface DeferredForm {
  /** For the planner: without named fragments, each @defer with a label of its own. */
  readonly planned: DocumentNode;
  /** Without what is deferred. */
  readonly first: DocumentNode;
  readonly parts: readonly DeferredPart[];
}

/** One fragment with @defer. */
export interface DeferredPart {
  /** Its label for the planner. */
  readonly key: string;
  /** The caller's label. */
  readonly label: string | undefined;
  /** The key of the part that it is inside of; null for one of the first answer. */
  readonly parent: string | null;
  /** The response names that lead to it, without indices of lists. */
  readonly path: readonly string[];
  /** An operation that asks for nothing but this part. */
  readonly document: DocumentNode;
}

/** Most parts of one operation; further fragments are answered where they stand. */
const MAX_PARTS = 30;
/** Most selections with all fragments in place; a larger operation is not taken apart. */
const MAX_SELECTIONS = 5_000;

const DEFER = 'defer';

/** The variables that decide on a document's @defer, each once; null where it has no @defer. */
export function deferConditions(document: DocumentNode): readonly string[] | null {
  const names = new Set<string>();
  let isDeferred = false;
  visit(document, {
    Directive({ name, arguments: given = [] }) {
      if (name.value !== DEFER) return;
      isDeferred = true;
      for (const { value } of given) if (value.kind === Kind.VARIABLE) names.add(value.name.value);
    },
  });
  return isDeferred ? [...names].toSorted() : null;
}

/** The document without any @defer. */
export function withoutDefer(document: DocumentNode): DocumentNode {
  return visit(document, { Directive: ({ name }) => (name.value === DEFER ? null : undefined) });
}

interface Walk {
  readonly fragments: OperationContext['fragments'];
  readonly holds: (directive: DirectiveNode) => boolean;
  readonly found: { readonly key: string; readonly label: string | undefined }[];
  selections: number;
}

/** Takes an operation apart; null where nothing of it is deferred, or where it is too large. */
export function deferredForm(
  context: OperationContext,
  variables: Readonly<Record<string, unknown>>,
): DeferredForm | null {
  const { operation, fragments } = context;
  const walk: Walk = { fragments, holds: holdsFor(operation, variables), found: [], selections: 0 };
  const selectionSet = inPlace(operation.selectionSet, walk);
  if (selectionSet === null || walk.found.length === 0) return null;
  const labels = new Map(walk.found.map(({ key, label }) => [key, label]));
  const asDocument = (set: SelectionSetNode): DocumentNode => ({
    kind: Kind.DOCUMENT,
    definitions: [{ ...operation, selectionSet: set }],
  });
  const parts: DeferredPart[] = [];
  collectParts(selectionSet, [], null, ({ key, ...part }) =>
    parts.push({ ...part, key, label: labels.get(key), document: asDocument(part.selectionSet) }),
  );
  return { planned: asDocument(selectionSet), first: asDocument(withoutParts(selectionSet)), parts };
}

/** Whether a @defer holds: its `if`, by the variables and their defaults. */
function holdsFor({ variableDefinitions = [] }: OperationDefinitionNode, variables: object) {
  const given = variables as Readonly<Record<string, unknown>>;
  return ({ arguments: args = [] }: DirectiveNode): boolean => {
    const condition = args.find(({ name }) => name.value === 'if')?.value;
    if (condition?.kind === Kind.BOOLEAN) return condition.value;
    if (condition?.kind !== Kind.VARIABLE) return true;
    const { value: name } = condition.name;
    if (Object.hasOwn(given, name)) return given[name] !== false;
    const fallback = variableDefinitions.find(({ variable }) => variable.name.value === name)?.defaultValue;
    return fallback?.kind !== Kind.BOOLEAN || fallback.value;
  };
}

/** The selection with named fragments in place and each @defer that holds under a key; null where it is too large. */
function inPlace(set: SelectionSetNode, walk: Walk): SelectionSetNode | null {
  const selections: SelectionNode[] = [];
  for (const selection of set.selections) {
    walk.selections += 1;
    if (walk.selections > MAX_SELECTIONS) return null;
    const placed = placedSelection(selection, walk);
    if (placed === null) return null;
    selections.push(placed);
  }
  return { kind: Kind.SELECTION_SET, selections };
}

function placedSelection(selection: SelectionNode, walk: Walk): SelectionNode | null {
  if (selection.kind === Kind.FIELD) {
    if (selection.selectionSet === undefined) return selection;
    const selectionSet = inPlace(selection.selectionSet, walk);
    return selectionSet && { ...selection, selectionSet };
  }
  const fragment = selection.kind === Kind.INLINE_FRAGMENT ? selection : walk.fragments[selection.name.value];
  if (fragment === undefined) return null;
  const { directives = [] } = selection;
  const others = directives.filter(({ name }) => name.value !== DEFER);
  const defer = directives.find(({ name }) => name.value === DEFER);
  const isPart = defer !== undefined && walk.found.length < MAX_PARTS && walk.holds(defer);
  const key = `part${walk.found.length}`;
  if (isPart) walk.found.push({ key, label: readLabel(defer) });
  const selectionSet = inPlace(fragment.selectionSet, walk);
  return (
    selectionSet && {
      kind: Kind.INLINE_FRAGMENT,
      ...(fragment.typeCondition !== undefined && { typeCondition: fragment.typeCondition }),
      directives: isPart ? [...others, directive(DEFER, 'label', { kind: Kind.STRING, value: key })] : others,
      selectionSet,
    }
  );
}

function readLabel({ arguments: given = [] }: DirectiveNode): string | undefined {
  const value = given.find(({ name }) => name.value === 'label')?.value;
  return value?.kind === Kind.STRING ? value.value : undefined;
}

function directive(
  name: string,
  argument: string,
  value: NonNullable<DirectiveNode['arguments']>[number]['value'],
): DirectiveNode & { readonly kind: Kind.DIRECTIVE } {
  const named = (text: string) => ({ kind: Kind.NAME, value: text }) as const;
  const given = { kind: Kind.ARGUMENT, name: named(argument), value } as const;
  return { kind: Kind.DIRECTIVE, name: named(name), arguments: [given] };
}

/** A fragment or field that encloses a part. */
type Enclosing = FieldNode | InlineFragmentNode;

interface FoundPart extends Pick<DeferredPart, 'key' | 'parent' | 'path'> {
  readonly selectionSet: SelectionSetNode;
}

function collectParts(
  set: SelectionSetNode,
  enclosing: readonly Enclosing[],
  parent: string | null,
  found: (part: FoundPart) => void,
): void {
  for (const selection of set.selections) {
    if (selection.kind === Kind.FRAGMENT_SPREAD || selection.selectionSet === undefined) continue;
    const key = selection.kind === Kind.FIELD ? null : findDeferKey(selection);
    const within = [...enclosing, selection];
    if (key !== null) {
      const inner = withoutParts(selection.selectionSet);
      found({ key, parent, path: listTypeNames(enclosing), selectionSet: enclosed(within, inner) });
    }
    collectParts(selection.selectionSet, within, key ?? parent, found);
  }
}

function listTypeNames(enclosing: readonly Enclosing[]): readonly string[] {
  return enclosing.flatMap((one) => (one.kind === Kind.FIELD ? [(one.alias ?? one.name).value] : []));
}

/** A selection that leads through these to what is inside. */
function enclosed(enclosing: readonly Enclosing[], inner: SelectionSetNode): SelectionSetNode {
  return enclosing.reduceRight<SelectionSetNode>(
    (selectionSet, one) => ({
      kind: Kind.SELECTION_SET,
      selections: [{ ...one, directives: otherDirectives(one), selectionSet }],
    }),
    inner,
  );
}

function otherDirectives({ directives = [] }: Enclosing): NonNullable<FieldNode['directives']> {
  return directives.filter(({ name }) => name.value !== DEFER);
}

function findDeferKey({ directives = [] }: InlineFragmentNode): string | null {
  const defer = directives.find(({ name }) => name.value === DEFER);
  return defer === undefined ? null : (readLabel(defer) ?? null);
}

/** The selection with its parts left out. They are skipped, not removed: nothing may be left. */
function withoutParts(set: SelectionSetNode): SelectionSetNode {
  const never = directive('skip', 'if', { kind: Kind.BOOLEAN, value: true });
  return visit(set, {
    InlineFragment: (node) => (findDeferKey(node) === null ? undefined : { ...node, directives: [never] }),
  });
}

/** The only operation of a document. */
export function onlyOperation(context: OperationContext, document: DocumentNode): OperationContext {
  const { schema } = context;
  return operationContext({ schema, document, operationName: undefined });
}
