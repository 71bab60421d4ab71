import { Kind } from 'graphql';

import type { RateClass, Route } from './route.ts';

/** Root fields of mutations that are no starts. */
interface CountedFields {
  /** That start no work. */
  readonly writes: readonly string[];
  /** That take or give credentials. */
  readonly signIns: readonly string[];
}

/** The class that counts a route's requests. What starts no work, such as uploads, which have no document, is a write. */
export function rateClassOf(
  { rateClass, method, document }: Route,
  { writes, signIns }: CountedFields,
): RateClass {
  if (rateClass !== undefined) return rateClass;
  const fields = (document?.definitions ?? []).flatMap((definition) =>
    definition.kind === Kind.OPERATION_DEFINITION
      ? definition.selectionSet.selections.flatMap((field) =>
          field.kind === Kind.FIELD ? [field.name.value] : [],
        )
      : [],
  );
  if (fields.some((name) => signIns.includes(name))) return 'sign-in';
  if (method === 'GET') return 'read';
  return fields.every((name) => writes.includes(name)) ? 'write' : 'start';
}
