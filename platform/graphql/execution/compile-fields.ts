import type { FieldNode, GraphQLObjectType, SelectionSetNode } from 'graphql';

import { collectFields, type Compiling } from './collect-fields.ts';
import { compileField, type ExecuteField } from './compile-field.ts';
import { isPromise, type Path, type Run } from './run.ts';

/** The fields of an object of one type, ready to be executed. */
export type CompiledFields = ReturnType<typeof compileFields>;

/** Compiles the selections of an object for one runtime type. */
export function compileFields(
  sets: readonly SelectionSetNode[],
  type: GraphQLObjectType,
  compiling: Compiling,
) {
  const collected = [...collectFields(sets, type, compiling)];
  const fields: ExecuteField[] = [];
  const names: string[] = [];
  for (const [name, nodes] of collected) {
    const field = compileField(
      { name, nodes, parentType: type, executeObject: objectExecutor(nodes, compiling) },
      compiling,
    );
    if (field === null) continue;
    fields.push(field);
    names.push(name);
  }
  const make = objectLiteral(names);
  return {
    /** All at once; the object when none has to be waited for, else a promise of it. */
    executeTogether(run: Run, source: unknown, path: Path | undefined): unknown {
      const values: unknown[] = [];
      let isPending = false;
      try {
        for (const field of fields) {
          const value = field(run, source, path);
          if (isPromise(value)) isPending = true;
          values.push(value);
        }
      } catch (thrown) {
        if (!isPending) throw thrown;
        // What runs already is waited for, and its failures are heard.
        return Promise.all(values).finally(() => {
          throw thrown;
        });
      }
      return isPending ? Promise.all(values).then(make) : make(values);
    },
    /** One after the other, as a mutation's root fields are. */
    executeInTurn(run: Run, source: unknown): unknown {
      const values: unknown[] = [];
      const executeFrom = (index: number): unknown => {
        for (let at = index; at < fields.length; at += 1) {
          const value = fields[at]?.(run, source, undefined);
          if (isPromise(value)) {
            return value.then((resolved) => {
              values.push(resolved);
              return executeFrom(at + 1);
            });
          }
          values.push(value);
        }
        return make(values);
      };
      return executeFrom(0);
    },
  };
}

/** Executes the selections of a field's objects; their fields are compiled when a type is met first. */
function objectExecutor(
  nodes: readonly FieldNode[],
  compiling: Compiling,
): (run: Run, type: GraphQLObjectType, source: unknown, path: Path) => unknown {
  const sets = nodes.map(({ selectionSet }) => selectionSet).filter((set) => set !== undefined);
  const byType = new Map<GraphQLObjectType, CompiledFields>();
  return (run, type, source, path) => {
    let fields = byType.get(type);
    if (fields === undefined) {
      fields = compileFields(sets, type, compiling);
      byType.set(type, fields);
    }
    return fields.executeTogether(run, source, path);
  };
}

/**
 * A function that makes objects with these members, in this order, from their values. It is generated as an object
 * literal, so that all its objects have one hidden class: making them, and writing them as JSON, is several times as fast
 * as adding member by member. The names are those of a parsed document (letters, digits, underscores) and written as
 * string literals; `__proto__` would set the prototype instead and must not be among them.
 */
export function objectLiteral(
  names: readonly string[],
): (values: readonly unknown[]) => Record<string, unknown> {
  if (names.includes('__proto__')) throw new Error('__proto__ is no member of a literal');
  const members = names.map((name, index) => `${JSON.stringify(name)}: v[${index}]`);
  // oxlint-disable-next-line typescript/no-implied-eval -- see above
  return new Function('v', `return { ${members.join(', ')} };`) as (
    values: readonly unknown[],
  ) => Record<string, unknown>;
}
