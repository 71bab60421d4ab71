import { GraphQLError, Kind, valueFromASTUntyped, type ValueNode } from 'graphql';

import type { Json } from '../../json.ts';

/**
 * The scalars both subgraphs share. They must read, write and describe a value in the same way, else the supergraph
 * composes with hints; so they live here and each builder registers them.
 */

/** Deepest nesting a JSON argument may have. */
const jsonMaxDepth = 32;
/** Most characters a JSON argument may have, written out. */
const jsonMaxLength = 262_144;

/** Options of the DateTime scalar for a Pothos builder: a Date inside, ISO 8601 with a zone outside. */
export const dateTimeScalar = {
  description: 'A moment in time, ISO 8601 with milliseconds and zone: 2026-01-31T12:00:00.000Z.',
  serialize: (value: Date): string => value.toISOString(),
  parseValue: (value: unknown): Date => readDateTime(value),
  parseLiteral: (node: ValueNode): Date => readDateTime(node.kind === Kind.STRING ? node.value : null),
};

/** Options of the JSON scalar for a Pothos builder: any JSON, bounded in depth and size when it comes in. */
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
  if (moment === null || Number.isNaN(moment.getTime())) {
    throw invalid('a DateTime is an ISO 8601 text with a zone, such as 2026-01-31T12:00:00Z');
  }
  return moment;
}

function boundedJson(value: unknown): NonNullable<Json> {
  if (value === undefined || value === null) throw invalid('JSON needs a value');
  if (!isShallow(value, jsonMaxDepth)) throw invalid(`JSON may be at most ${jsonMaxDepth} levels deep`);
  if (JSON.stringify(value).length > jsonMaxLength) {
    throw invalid(`JSON may be at most ${jsonMaxLength} characters long`);
  }
  return value as NonNullable<Json>;
}

/** Whether nothing in the value lies deeper than `levels`; never walks further than that. */
function isShallow(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return levels > 0 && Object.values(value).every((inner) => isShallow(inner, levels - 1));
}

function invalid(message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code: 'BAD_USER_INPUT' } });
}
