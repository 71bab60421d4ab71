import type { DocumentNode } from 'graphql';

import { measureDocument } from './document-shape.ts';

/** What of a new document counts as one point of the class `plan`: the time of planning grows with each of them. */
const CHARACTERS_PER_POINT = 1_000;
const FIELDS_PER_POINT = 50;
const LEVELS_PER_POINT = 10;

/** Points of a text for its length, which are counted before it is parsed. */
export function pointsOfText(query: string): number {
  return Math.ceil(query.length / CHARACTERS_PER_POINT);
}

/** Further points of a document for what planning it takes; introspection is not planned. */
export function pointsOfFields(document: DocumentNode): number {
  const { plannedFields, levels } = measureDocument(document);
  return Math.floor(plannedFields / FIELDS_PER_POINT + levels / LEVELS_PER_POINT);
}
