import { readFile } from 'node:fs/promises';

import { Supergraph } from '@apollo/federation-internals';
import { describe, expect, it } from 'vitest';

import { buildOpenApi } from '../rest-compat/openapi/openapi.ts';
import { sections, validateRoutes } from '../rest-compat/tables.ts';
import { mutationReport } from '../tools/mutations/mutations.ts';
import {
  documentedFacts,
  openApiAnswers,
  openApiFacts,
  tableFacts,
} from './documented-operations/comparison/facts.ts';
import { readingFaults } from './documented-operations/comparison/readings.ts';
import { documented, toKey } from './documented-operations/documents/operation.ts';
import { isWhole } from './kit/extent.ts';

/**
 * The documented operations as data, against the tables and against the OpenAPI documents made of them. The same
 * against a live server: test/rest/operations.test.ts.
 */

const services = ['media', 'workflow'] as const;

describe('the documented operations', () => {
  it('are 126, 91 of the media service and 35 of the workflow service', () => {
    expect(documented).toHaveLength(126);
    expect(documented.filter(({ service }) => service === 'media')).toHaveLength(91);
  });

  it('have exactly one route each, which says what the document says', () => {
    const found = tableFacts(sections);
    const expected = documentedFacts(documented);
    expect(found.map((fact) => toKey(fact as never))).toEqual(expected.map((fact) => toKey(fact as never)));
    for (const [index, fact] of expected.entries()) expect(found[index]).toEqual(fact);
  });

  it.each(services)('are described so in the OpenAPI document of the %s service', (service) => {
    const own = documented.filter((operation) => operation.service === service);
    const document = buildOpenApi(service, sections);
    expect(openApiFacts(service, document)).toEqual(documentedFacts(own));
    const answers = openApiAnswers(document);
    for (const operation of own) {
      expect([toKey(operation), answers.get(toKey(operation))]).toEqual([
        toKey(operation),
        operation.answers,
      ]);
    }
  });

  it('have their inputs read as documented', () => {
    expect(readingFaults(sections, documented)).toEqual([]);
  });
});

describe('these comparisons', () => {
  // What changes the tables is seen by these comparisons in any run; that each would be is theirs to prove.
  it.runIf(isWhole)('notice every single change of the tables', () => {
    const { survivors, count } = mutationReport(sections, documented);
    expect(survivors).toEqual([]);
    expect(count).toBeGreaterThan(12_000);
  });
});

describe('the OpenAPI documents', () => {
  it('have the documented versions and component names', () => {
    const { openapi, info, components } = buildOpenApi('media', sections);
    expect(openapi).toBe('3.1.0');
    expect(info.version).toBe('1.0.6');
    expect(components).toMatchObject({ schemas: { HTTPValidationError: {}, ValidationError: {} } });
  });

  it('name every operation differently', () => {
    for (const service of services) {
      const ids = Object.values(buildOpenApi(service, sections).paths).flatMap((methods) =>
        Object.values(methods).map(({ operationId }) => operationId),
      );
      expect(new Set(ids).size).toBe(ids.length);
    }
  });
});

describe('the documents of the routes', () => {
  it('are valid against the schema that callers see', async () => {
    const sdl = await readFile(new URL('../schema/supergraph.graphql', import.meta.url), 'utf8');
    const schema = Supergraph.build(sdl).apiSchema().toGraphQLJSSchema();
    expect(validateRoutes(schema)).toEqual([]);
  });
});
