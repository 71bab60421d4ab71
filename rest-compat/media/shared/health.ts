import { Health } from '../../documents/media/questions.ts';
import { success } from '../../replies/envelope.ts';
import { route } from '../../route/define-route.ts';
import type { Route } from '../../route/route.ts';

/** A section's health operation; all of them report on the whole media service. */
export function healthRoute(path: string, options: { readonly deprecated?: true } = {}): Route {
  return route(Health)({
    method: 'GET',
    path,
    ...options,
    variables: () => ({}),
    responseSchema: 'Health',
    reply: ({ health }) => success(health, 'the service is running'),
  });
}
