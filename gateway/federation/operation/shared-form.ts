import {
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  getNullableType,
  type GraphQLArgument,
  type GraphQLSchema,
  isEnumType,
  isScalarType,
  isSpecifiedScalarType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  valueFromAST,
} from 'graphql';

import type { SharedForm } from '../../../platform/graphql/operations/documents.ts';
import { SIZE_ARGUMENTS } from '../../../platform/graphql/operations/inspect-document.ts';

/** A place of the text, and what stands there in the shared one. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const LITERALS: ReadonlySet<string> = new Set([Kind.STRING, Kind.INT, Kind.FLOAT, Kind.BOOLEAN, Kind.ENUM]);
/** Names of the shared text. Who uses such names shares nothing. */
const OURS = /^_[rv]\d/;

/**
 * The form that a query shares with those which differ from it in aliases and literals of its root fields alone: its aliases are
 * numbered, its literals are variables. It is valid when the query is, as a literal is taken that fits its argument; those
 * that limits depend on stay. Null where there is nothing to share, and where directives or fragments decide on the root fields.
 */
export function sharedForm(schema: GraphQLSchema, query: string, document: DocumentNode): SharedForm | null {
  const operation = findOnlyQuery(document);
  if (operation === null) return null;
  const edits: Edit[] = [];
  const names = new Map<string, string>();
  const values: Record<string, unknown> = {};
  const definitions: string[] = [];
  const taken = new Set<string>();
  const given = schema.getQueryType()?.getFields() ?? {};
  for (const field of operation.selectionSet.selections) {
    if (field.kind !== Kind.FIELD || !isPlain(field, taken)) return null;
    if (field.alias !== undefined) {
      const name = `_r${names.size}`;
      names.set(name, field.alias.value);
      edits.push(replaced(field.alias, name));
    }
    for (const argument of field.arguments ?? []) {
      const literal = toLiteralEdit(argument, given[field.name.value]?.args);
      if (literal === null) continue;
      const name = `_v${definitions.length}`;
      values[name] = literal.value;
      definitions.push(`$${name}: ${literal.type}`);
      edits.push(replaced(argument.value, `$${name}`));
    }
  }
  if (edits.length === 0) return null;
  if (definitions.length > 0) edits.push(declareVariables(query, operation, definitions.join(' ')));
  return { text: edited(query, edits), names, values };
}

function findOnlyQuery({ definitions }: DocumentNode): OperationDefinitionNode | null {
  const operations = definitions.filter((one) => one.kind === Kind.OPERATION_DEFINITION);
  const [operation] = operations;
  if (operation?.operation !== OperationTypeNode.QUERY || operations.length > 1) return null;
  const isOurs = operation.variableDefinitions?.some(({ variable }) => OURS.test(variable.name.value));
  return isOurs === true ? null : operation;
}

/** Whether nothing but the field itself decides on it; its key is taken. */
function isPlain({ name, alias = name, directives = [] }: FieldNode, taken: Set<string>): boolean {
  if (directives.length > 0 || name.value.startsWith('__')) return false;
  if (OURS.test(alias.value) || taken.has(alias.value)) return false;
  taken.add(alias.value);
  return true;
}

/** The value and type of an argument that is a literal of a scalar or an enum. */
function toLiteralEdit(
  { name, value }: ArgumentNode,
  given: readonly GraphQLArgument[] = [],
): { readonly value: unknown; readonly type: string } | null {
  if (!LITERALS.has(value.kind) || SIZE_ARGUMENTS.includes(name.value)) return null;
  const type = given.find((one) => one.name === name.value)?.type;
  const inner = getNullableType(type);
  if (!isEnumType(inner) && !(isScalarType(inner) && isSpecifiedScalarType(inner))) return null;
  const read: unknown = valueFromAST(value, inner);
  // A literal such as 1e999 reads as Infinity, which a JSON variable can't hold.
  const isValue = typeof read === 'number' ? Number.isFinite(read) : read !== undefined;
  return isValue ? { value: read, type: String(type) } : null;
}

/** Where variables are defined: after those that are, after the name, or at the beginning of the short form. */
function declareVariables(query: string, operation: OperationDefinitionNode, text: string): Edit {
  const last = operation.variableDefinitions?.at(-1);
  const start = operation.loc?.start ?? 0;
  if (last !== undefined) return inserted(findEnd(last), ` ${text}`);
  if (operation.name !== undefined) return inserted(findEnd(operation.name), `(${text})`);
  const isShort = query[start] === '{';
  return inserted(isShort ? start : start + 'query'.length, isShort ? `query (${text}) ` : ` (${text})`);
}

type Placed = { readonly loc?: { readonly start: number; readonly end: number } | undefined };

const findEnd = ({ loc }: Placed): number => loc?.end ?? 0;
const inserted = (at: number, text: string): Edit => ({ start: at, end: at, text });
const replaced = ({ loc }: Placed, text: string): Edit => ({
  start: loc?.start ?? 0,
  end: loc?.end ?? 0,
  text,
});

function edited(query: string, edits: readonly Edit[]): string {
  let at = 0;
  let text = '';
  for (const { start, end, text: put } of edits.toSorted((left, right) => left.start - right.start)) {
    text += query.slice(at, start) + put;
    at = end;
  }
  return text + query.slice(at);
}
