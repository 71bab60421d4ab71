import { type ExecutionResult, GraphQLError } from 'graphql';

import { codedError } from '../../platform/graphql/operations/errors.ts';
import type { DeniedField } from './permitted-operation.ts';

/** Most errors about denied fields in one answer: a list may have one for each element. */
const MAX_ERRORS = 50;

const MESSAGE = 'Unauthorized field or type';

/** The result with an error for each null that stands for a field which the caller may not see. */
export function withDenials(result: ExecutionResult, denied: readonly DeniedField[]): ExecutionResult {
  const errors: GraphQLError[] = [];
  const known = new Set<string>();
  const deny = (path: readonly (string | number)[]): void => {
    const key = JSON.stringify(path);
    if (known.has(key) || errors.length >= MAX_ERRORS) return;
    known.add(key);
    const { extensions } = DENIED;
    errors.push(new GraphQLError(MESSAGE, { path, extensions }));
  };
  for (const field of denied) find(result.data, field, { at: 0, path: [], deny });
  const { extensions, ...rest } = result;
  const { valueCompletion: _ours, ...others } = extensions ?? {};
  return {
    ...rest,
    ...(Object.keys(others).length > 0 && { extensions: others }),
    ...((errors.length > 0 || result.errors !== undefined) && {
      errors: [...(result.errors ?? []), ...errors],
    }),
  };
}

/** The refusal of an operation of which the caller may see no root field. */
export function allDenied(denied: readonly DeniedField[]): ExecutionResult {
  const { extensions } = DENIED;
  return {
    errors: denied.slice(0, MAX_ERRORS).map(({ path }) => new GraphQLError(MESSAGE, { path, extensions })),
  };
}

const DENIED = codedError('UNAUTHORIZED_FIELD_OR_TYPE', MESSAGE);

interface Walk {
  readonly at: number;
  readonly path: readonly (string | number)[];
  readonly deny: (path: readonly (string | number)[]) => void;
}

function find(value: unknown, field: DeniedField, { at, path, deny }: Walk): void {
  if (value === null || value === undefined) {
    // The null of a field that may not be null has taken what it stood in.
    if (at === field.path.length || field.isNonNull) deny([...path, ...field.path.slice(at)]);
    return;
  }
  if (Array.isArray(value)) {
    for (const [index, one] of value.entries()) find(one, field, { at, path: [...path, index], deny });
    return;
  }
  const name = field.path[at];
  if (name === undefined || typeof value !== 'object' || !Object.hasOwn(value, name)) return;
  find((value as Record<string, unknown>)[name], field, { at: at + 1, path: [...path, name], deny });
}
