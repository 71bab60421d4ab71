import { createMatcher } from './route/match.ts';
import { sections } from './tables.ts';

const match = createMatcher(sections.flatMap(({ routes }) => routes));

/** Whether a request proves itself, so that its Authorization is not looked at; `path` comes without the path of PUBLIC_URL. */
export function isSelfAuthenticating(method: string, path: string): boolean {
  const matched = match(method, path);
  return matched !== null && 'route' in matched && matched.route.isSelfAuthenticating === true;
}
