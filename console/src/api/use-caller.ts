import { useQuery } from '@apollo/client/react';

import { CallerDocument } from './documents/api.ts';
import type { CallerQuery } from './documents/operations.ts';

/** Who is asking and what they may do, as the server says; undefined until it has answered. */
export function useCaller(): CallerQuery['caller'] | undefined {
  return useQuery(CallerDocument).data?.caller;
}

/** What the caller is called: their name, their address, else their id; undefined for a visitor. */
export function useCallerName(): string | undefined {
  const { data } = useQuery(CallerDocument);
  if (data === undefined || data.caller.kind === 'ANONYMOUS') return undefined;
  return data.viewer?.name ?? data.viewer?.email ?? data.caller.id;
}

/**
 * Whether lists hold what is everyone's. Not `mayAdministrate`: an open server lets everybody change things, and shows
 * nobody what is somebody else's.
 */
export function useSeesAll(): boolean {
  return useCaller()?.mayIssueKeys === true;
}
