import { isDeepStrictEqual } from 'node:util';

import { buildOpenApi } from '../../../rest-compat/openapi/openapi.ts';
import type { Section } from '../../../rest-compat/route/route.ts';
import { toKey, type Documented } from '../documents/operation.ts';
import { documentedFacts, openApiAnswers, openApiFacts, tableFacts } from './facts.ts';
import { readingFaults } from './readings.ts';

/** The comparisons of the documented-operations test, by what they look at. */
export const comparisons = {
  'the tables': sayTheSame,
  'the OpenAPI documents': describeTheSame,
  'how inputs are read': readTheSame,
} as const satisfies Readonly<Record<string, Comparison>>;

/** Whether these tables are as these operations are documented. */
type Comparison = (sections: readonly Section[], operations: readonly Documented[]) => boolean;

function sayTheSame(sections: readonly Section[], operations: readonly Documented[]): boolean {
  return isDeepStrictEqual(tableFacts(sections), documentedFacts(operations));
}

function describeTheSame(sections: readonly Section[], operations: readonly Documented[]): boolean {
  return (['media', 'workflow'] as const).every((service) => {
    const document = buildOpenApi(service, sections);
    const own = operations.filter((operation) => operation.service === service);
    const answers = openApiAnswers(document);
    return (
      isDeepStrictEqual(openApiFacts(service, document), documentedFacts(own)) &&
      own.every((operation) => isDeepStrictEqual(answers.get(toKey(operation)), operation.answers))
    );
  });
}

function readTheSame(sections: readonly Section[], operations: readonly Documented[]): boolean {
  return readingFaults(sections, operations).length === 0;
}
