import { type GraphQLError, Kind, valueFromASTUntyped, type ValueNode } from 'graphql';

import type { Json } from '../../json.ts';
import { codedError } from '../operations/errors.ts';

/** Scalars of both subgraphs. They must be read, written and described alike, or composition gives hints. */

/** Most levels of a JSON argument. */
const jsonMaxDepth = 32;
/** Most characters of a JSON argument. */
const jsonMaxLength = 262_144;

/** The DateTime scalar for a Pothos builder: a Date inside, ISO 8601 with a zone outside. */
export const dateTimeScalar = {
  description: 'A moment in time, ISO 8601 with milliseconds and zone: 2026-01-31T12:00:00.000Z.',
  serialize: (value: Date): string => value.toISOString(),
  parseValue: (value: unknown): Date => readDateTime(value),
  parseLiteral: (node: ValueNode): Date => readDateTime(node.kind === Kind.STRING ? node.value : null),
};

/** The JSON scalar for a Pothos builder: any JSON, as an argument bounded in depth and size. */
export const jsonScalar = {
  description: `Any JSON value; as an argument at most ${jsonMaxDepth} levels deep and ${jsonMaxLength} characters long.`,
  serialize: (value: unknown): unknown => value,
  parseValue: (value: unknown): NonNullable<Json> => boundedJson(value),
  parseLiteral: (node: ValueNode, variables?: Record<string, unknown> | null): NonNullable<Json> =>
    boundedJson(valueFromASTUntyped(node, variables)),
};

const ISO_WITH_ZONE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;

function readDateTime(value: unknown): Date {
  const moment = typeof value === 'string' && ISO_WITH_ZONE.test(value) ? new Date(value) : null;
  if (moment === null || Number.isNaN(moment.getTime()) || !isDay(String(value).slice(0, 10))) {
    throw invalid('a DateTime is an ISO 8601 text with a zone, such as 2026-01-31T12:00:00Z');
  }
  return moment;
}

/** Whether a month has this day: `Date` takes 31 February for 3 March. */
function isDay(day: string): boolean {
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

function boundedJson(value: unknown): NonNullable<Json> {
  if (value === undefined || value === null) throw invalid('JSON needs a value');
  if (!isShallow(value, jsonMaxDepth)) throw invalid(`JSON may be at most ${jsonMaxDepth} levels deep`);
  if (JSON.stringify(value).length > jsonMaxLength) {
    throw invalid(`JSON may be at most ${jsonMaxLength} characters long`);
  }
  return value as NonNullable<Json>;
}

/** Whether a value has at most so many levels; does not descend further. */
function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1));
}

function invalid(message: string): GraphQLError {
  return codedError('BAD_USER_INPUT', message);
}
