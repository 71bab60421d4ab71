import { type Operation, type Schema, type Selection, Variable } from '@apollo/federation-internals';
import { Kind, visit } from 'graphql';

import type { OperationContext } from '../../operation/operation-context.ts';

/** The values of the variables that @skip and @include ask. */
export interface Conditions {
  /** The same text for the same values. */
  readonly key: string;
  readonly values: Readonly<Record<string, boolean>>;
}

/** Reads the conditions of a request; null when one is no boolean. */
export type ConditionReader = (variables: Readonly<Record<string, unknown>>) => Conditions | null;

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
