import type { Connection } from '../contract/provider.ts';

/** A path with its query. Keys of older accounts need their group id. */
export function pathOf(
  connection: Connection,
  path: string,
  query: Readonly<Record<string, string>> = {},
): string {
  const { groupId } = connection.credentials;
  const parameters = new URLSearchParams({ ...(groupId !== undefined && { GroupId: groupId }), ...query });
  return parameters.size === 0 ? path : `${path}?${parameters.toString()}`;
}
