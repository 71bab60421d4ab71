import { badInput } from '../../../platform/errors.ts';

/** Which part of a list is asked for; cursors of the graph are the ids of its items. Throws BAD_USER_INPUT. */
export function pageOf(query: URLSearchParams): { readonly first: number; readonly after: string | null } {
  const first = Number(query.get('limit') ?? 20);
  if (!Number.isInteger(first) || first < 1 || first > 100) {
    throw badInput('limit', 'limit must be from 1 to 100');
  }
  if (query.get('order') === 'asc')
    throw badInput('order', 'order must be desc: lists begin with the newest');
  return { first, after: query.get('after') };
}
