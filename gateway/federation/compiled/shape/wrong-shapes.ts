import {
  ERRORS,
  isCompositeType,
  isListType,
  isNonNullType,
  type Operation,
  type OutputType,
  type SelectionSet,
  typenameFieldName,
} from '@apollo/federation-internals';
import { GraphQLError } from 'graphql';

import type { Members } from './shapes.ts';

/** Data in which every value has the shape of its field: an object, a list, or anything for a leaf. */
interface RightShapes {
  readonly data: Members;
  /** One for each value that was replaced by null. */
  readonly errors: readonly GraphQLError[];
}

/**
 * Puts null where a subgraph gave no object for an object, or no list for a list, and says so at its path: Apollo's shaping would give up the
 * whole answer. Only what leads to such a value is copied, because received objects may stand at several places.
 */
export function withRightShapes(model: Operation, data: Members): RightShapes {
  const errors: GraphQLError[] = [];
  return { data: rightMembers(data, [model.selectionSet], { path: [], errors }), errors };
}

interface Place {
  readonly path: readonly (string | number)[];
  readonly errors: GraphQLError[];
}

/** Type conditions are not asked: fields of one name have one shape, whatever the type is. */
function rightMembers(members: Members, sets: readonly SelectionSet[], place: Place): Members {
  let right = members;
  for (const set of sets) {
    for (const selection of set.selections()) {
      if (selection.kind === 'FragmentSelection') {
        right = rightMembers(right, [selection.selectionSet], place);
        continue;
      }
      const name = selection.element.responseName();
      const { type, name: field } = selection.element.definition;
      if (field === typenameFieldName || !Object.hasOwn(right, name)) continue;
      const value = right[name];
      const inner = { ...place, path: [...place.path, name] };
      const made = rightValue(value, { type: type as OutputType, set: selection.selectionSet, place: inner });
      if (made !== value) right = { ...right, [name]: made };
    }
  }
  return right;
}

interface Expected {
  readonly type: OutputType;
  readonly set: SelectionSet | undefined;
  readonly place: Place;
}

function rightValue(value: unknown, { type, set, place }: Expected): unknown {
  if (value === undefined || value === null) return value;
  if (isNonNullType(type)) return rightValue(value, { type: type.ofType as OutputType, set, place });
  if (isListType(type)) {
    if (!Array.isArray(value)) return nullFor(type, place);
    const made = value.map((element: unknown, index) => {
      const inner = { ...place, path: [...place.path, index] };
      return rightValue(element, { type: type.ofType as OutputType, set, place: inner });
    });
    return made.some((element, index) => element !== value[index]) ? made : value;
  }
  if (!isCompositeType(type) || set === undefined) return value;
  return isObject(value) ? rightMembers(value, [set], place) : nullFor(type, place);
}

/** An object whose type is no text is none of the schema's. */
function isObject(value: unknown): value is Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const { [typenameFieldName]: typename } = value as Members;
  return typename === undefined || typeof typename === 'string';
}

function nullFor(type: OutputType, { path, errors }: Place): null {
  errors.push(wrongShape(`for ${String(type)}`, path));
  return null;
}

/** What callers are told of a value that is no object or no list where the schema promises one. */
export function wrongShape(where: string, path: readonly (string | number)[]): GraphQLError {
  return new GraphQLError(`a subgraph gave a value of the wrong shape ${where}`, {
    path,
    extensions: { code: ERRORS.DOWNSTREAM_SERVICE_ERROR.code },
  });
}
