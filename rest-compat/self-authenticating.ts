import { createMatcher } from './route/match.ts';
import { sections } from './tables.ts';

const match = createMatcher(sections.flatMap(({ routes }) => routes));

/** Whether a request's proof is in itself, so that an Authorization that has ended does not matter; `path` begins behind the prefix of PUBLIC_URL. */
export function isSelfAuthenticating(method: string, path: string): boolean {
  const matched = match(method, path);
  return matched !== null && 'route' in matched && matched.route.isSelfAuthenticating === true;
}
