import { Health } from '../../documents/media/questions.ts';
import { success, type Envelope } from '../../replies/envelopes.ts';
import { route } from '../../route/define-route.ts';
import type { Route } from '../../route/route.ts';

interface HealthOptions {
  readonly deprecated?: true;
  /** Generators of the section: it is not available when none of them is. Absent: it needs none. */
  readonly generators?: readonly string[];
  /** Parts that the section can do nothing without: it is not available while one of them is away. */
  readonly parts?: readonly string[];
}

/** A section's health operation: the parts that all need, and the section's own generators. */
export function healthRoute(
  path: string,
  { generators = [], parts = [], ...options }: HealthOptions = {},
): Route {
  return route(Health)({
    method: 'GET',
    path,
    ...options,
    variables: () => ({}),
    responseSchema: 'Health',
    reply({ health: { generators: all, checks, ...facts } }): Envelope {
      const own = all.filter(({ generator }) => generators.includes(generator));
      const states = Object.fromEntries(own.map(({ generator, state }) => [generator, state]));
      const data = { ...facts, checks: { ...(checks as object), ...states } };
      const isUnavailable = generators.length > 0 && own.every(({ state }) => state === 'not available');
      if (isUnavailable) return { status: false, data, msg: `not available here: ${generators.join(', ')}` };
      const lost = parts.filter(
        (part) => (checks as Readonly<Record<string, unknown>>)[part] === 'unavailable',
      );
      if (lost.length === 0) return success(data, 'the service is running');
      return { status: false, data, msg: `not available now: ${lost.join(', ')}` };
    },
  });
}
