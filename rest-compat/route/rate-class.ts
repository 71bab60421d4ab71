import { Kind } from 'graphql';

import type { RateClass, Route } from './route.ts';

/**
 * The class that counts a route's requests. What starts no work (`writes`: such root fields of mutations; uploads, which
 * have no document) is a write.
 */
export function rateClassOf({ rateClass, method, document }: Route, writes: readonly string[]): RateClass {
  if (rateClass !== undefined) return rateClass;
  if (method === 'GET') return 'read';
  const fields = (document?.definitions ?? []).flatMap((definition) =>
    definition.kind === Kind.OPERATION_DEFINITION
      ? definition.selectionSet.selections.flatMap((field) =>
          field.kind === Kind.FIELD ? [field.name.value] : [],
        )
      : [],
  );
  return fields.every((name) => writes.includes(name)) ? 'write' : 'start';
}
