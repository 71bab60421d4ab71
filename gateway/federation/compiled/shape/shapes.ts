import {
  type CompositeType,
  isCompositeType,
  isListType,
  isNonNullType,
  type OutputType,
  type Operation,
  type Schema,
  type Selection,
  Variable,
} from '@apollo/federation-internals';
import { type GraphQLError, Kind, visit } from 'graphql';

import type { OperationContext } from '../../operation/operation-context.ts';

/** Data of subgraphs: an object as it was received, or one into which several answers were merged. */
export type Members = Record<string, unknown>;

/** What the fetches of a plan have brought together. */
export interface Merged {
  readonly data: Members;
  readonly errors: readonly GraphQLError[];
  /** The variables as the caller gave them. */
  readonly variables: Readonly<Record<string, unknown>>;
  /** Whether one received object may stand at several places. */
  readonly isShared: boolean;
}

/** How a value of the merged data becomes a value of the answer. */
export type Shape = (value: unknown, shaping: Shaping) => unknown;

/** One answer that is being shaped. */
interface Shaping {
  /** Whether one object may stand at several places: it is then shaped once for each selection of it. */
  readonly isShared: boolean;
  /** What was shaped already, by the number of the selection. */
  readonly done: (Map<unknown, unknown> | undefined)[];
}

/** What makes shapes of one operation. */
export interface ShapeMaker {
  /** The shape of an object of a composite type. */
  readonly objectShape: (type: CompositeType) => Shape;
  readonly leafShape: (type: OutputType) => Shape;
  /** A number for a selection, unlike that of any other in the operation. */
  readonly nextNumber: () => number;
}

/** The shape of a value of any type. */
export function compileShape(type: OutputType, shaping: ShapeMaker): Shape {
  if (isNonNullType(type)) return nonNull(compileShape(type.ofType as OutputType, shaping));
  if (isListType(type))
    return onceEach(compileList(compileShape(type.ofType as OutputType, shaping)), shaping.nextNumber());
  if (isCompositeType(type)) return onceEach(shaping.objectShape(type), shaping.nextNumber());
  return shaping.leafShape(type);
}

function nonNull(inner: Shape): Shape {
  return (value, shaping) => (value === undefined || value === null ? deviate() : inner(value, shaping));
}

function compileList(element: Shape): Shape {
  return (value, shaping) => {
    if (!Array.isArray(value)) return deviate();
    const shaped: unknown[] = [];
    for (const one of value) shaped.push(element(one, shaping));
    return shaped;
  };
}

/** Null for null; and what stands at several places is shaped once, so that shared input gives shared output. */
function onceEach(inner: Shape, number: number): Shape {
  return (value, shaping) => {
    if (value === undefined || value === null) return null;
    if (!shaping.isShared) return inner(value, shaping);
    const done = (shaping.done[number] ??= new Map());
    const known = done.get(value);
    if (known !== undefined) return known;
    const shaped = inner(value, shaping);
    done.set(value, shaped);
    return shaped;
  };
}

/**
 * Thrown where a value is not as the schema promises. It says nothing and is caught at once: Apollo's shaping then finds
 * out what is to be said about it.
 */
export const DEVIATION = Symbol('deviation');

/** Gives up the fast way. */
export function deviate(): never {
  throw DEVIATION;
}

/** The values of the variables that @skip and @include ask. */
export interface Conditions {
  /** The same text for the same values. */
  readonly key: string;
  readonly values: Readonly<Record<string, boolean>>;
}

/** Reads the conditions of a request; null when one is no boolean. */
type ConditionReader = (variables: Readonly<Record<string, unknown>>) => Conditions | null;

/** Makes the reader of an operation's conditions. */
export function createConditionReader(model: Operation, operation: OperationContext): ConditionReader {
  const names = conditionVariables(operation);
  const defaults = model.collectDefaultedVariableValues();
  return (variables) => {
    if (names.length === 0) return UNCONDITIONAL;
    const values = Object.create(null) as Record<string, boolean>;
    let key = '';
    for (const name of names) {
      const value: unknown = Object.hasOwn(variables, name) ? variables[name] : defaults[name];
      if (typeof value !== 'boolean') return null;
      values[name] = value;
      key += value ? '1' : '0';
    }
    return { key, values };
  };
}

const UNCONDITIONAL: Conditions = { key: '', values: {} };

function conditionVariables({ operation, fragments }: OperationContext): readonly string[] {
  const names = new Set<string>();
  for (const definition of [operation, ...Object.values(fragments)]) {
    visit(definition, {
      Directive({ name, arguments: directiveArguments = [] }) {
        if (name.value !== 'skip' && name.value !== 'include') return;
        for (const { value } of directiveArguments)
          if (value.kind === Kind.VARIABLE) names.add(value.name.value);
      },
    });
  }
  return [...names];
}

/** Whether @skip or @include leave a selection out. */
export function isLeftOut({ element }: Selection, schema: Schema, { values }: Conditions): boolean {
  const [skip] = element.appliedDirectivesOf(schema.skipDirective());
  const [include] = element.appliedDirectivesOf(schema.includeDirective());
  return (skip !== undefined && holds(skip, values)) || (include !== undefined && !holds(include, values));
}

function holds(directive: { arguments(): object }, values: Conditions['values']): boolean {
  const { if: condition } = directive.arguments() as { readonly if: unknown };
  return condition instanceof Variable ? values[condition.name] === true : condition === true;
}
