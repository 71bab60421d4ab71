import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';

import {
  buildSchema,
  getNamedType,
  type GraphQLField,
  type GraphQLNamedType,
  isCompositeType,
  isInputObjectType,
  isObjectType,
  isRequiredArgument,
  parse,
} from 'graphql';

import { countFieldPoints, countTextPoints } from '../../gateway/limits/document-shape.ts';
import { once } from '../../platform/once.ts';

/** Random documents over Kiln's graph that are as large as a bound of points allows. */

const readSchema = once(() =>
  buildSchema(readFileSync(new URL('../../schema/client.graphql', import.meta.url), 'utf8')),
);

/** Aliases beyond which a document is refused. */
const MOST_ALIASES = 24;
const MOST_FIELDS = 120;
const MOST_TRIES = 20_000;
const DEPTH = 6;

/** One that has just as many points as are allowed, new in its form. Its root fields lead from one subgraph to the other. */
export function largestDocument(mostPoints: number): string {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const query = randomDocument();
    if (countTextPoints(query) > mostPoints) continue;
    if (countTextPoints(query) + countFieldPoints(parse(query)) === mostPoints) return query;
  }
  throw new Error(`no random document has ${mostPoints} points`);
}

function randomDocument(): string {
  const budget = { fields: 20 + randomInt(MOST_FIELDS), aliases: MOST_ALIASES, named: 0 };
  const alias = (): string => {
    if (budget.aliases === 0 || randomInt(3) > 0) return '';
    budget.aliases -= 1;
    return `x${randomInt(1_000_000).toString(36)}${(budget.named += 1)}: `;
  };
  const selections = (type: GraphQLNamedType | undefined, depth: number): string => {
    const chosen = isObjectType(type) ? shuffled(Object.values(type.getFields())) : [];
    const words = chosen.filter(isEasy).flatMap((field) => {
      if (budget.fields <= 0 || randomInt(2) === 0) return [];
      const inner = getNamedType(field.type);
      if (isCompositeType(inner) && (!isObjectType(inner) || depth === 0)) return [];
      budget.fields -= 1;
      return [`${alias()}${field.name}${isObjectType(inner) ? selections(inner, depth - 1) : ''}`];
    });
    return ` { ${[...words, '__typename'].join(' ')} }`;
  };
  const root = (name: string) => `${name}(id: "x")${selections(readSchema().getType('Task'), DEPTH)}`;
  return `{ a: ${root('task')} b: ${root('task')} }`;
}

function isEasy({ args }: GraphQLField<unknown, unknown>): boolean {
  return !args.some((one) => isRequiredArgument(one) || isInputObjectType(getNamedType(one.type)));
}

function shuffled<T>(list: readonly T[]): readonly T[] {
  return list
    .map((one) => ({ one, place: randomInt(1_000_000) }))
    .toSorted((left, right) => left.place - right.place)
    .map(({ one }) => one);
}
