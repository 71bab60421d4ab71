import type { JsonObject } from '../../../../platform/json.ts';
import type { Job } from '../../../jobs/job.ts';
import type { Journal } from '../../../jobs/journal.ts';
import { givenImage } from './input-image.ts';

/** For wires with different fields per model: a job stores them under `requested`, without the pictures. */
export function readRequested({ input }: Job): Readonly<Record<string, unknown>> {
  const { requested } = input;
  return typeof requested === 'object' && requested !== null && !Array.isArray(requested)
    ? (requested as JsonObject)
    : {};
}

type Requested = Readonly<Record<string, unknown>>;

/** The fields stored under `requested`: all but the pictures, which become files. */
export function withoutImages(requested: Requested, fields: readonly string[]): JsonObject {
  // It was parsed from JSON.
  return Object.fromEntries(
    Object.entries(requested).filter(([name]) => !fields.includes(name)),
  ) as JsonObject;
}

/** The pictures of these fields, in order; or the first field with a missing picture. */
export async function readImages(
  journal: Journal,
  requested: Requested,
  fields: readonly string[],
): Promise<{ readonly pictures: readonly Buffer[] } | { readonly missing: string }> {
  const pictures: Buffer[] = [];
  for (const field of fields) {
    const value = requested[field] ?? [];
    const addresses: readonly unknown[] = Array.isArray(value) ? value : [value];
    for (const address of addresses) {
      const picture = await givenImage(journal, address);
      if (picture === null) return { missing: field };
      pictures.push(picture);
    }
  }
  return { pictures };
}
