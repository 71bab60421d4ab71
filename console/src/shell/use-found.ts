import { useQuery } from '@apollo/client/react';
import { useNavigate } from '@tanstack/react-router';

import { useIsSignedIn } from '../api/credential.ts';
import {
  FindByIdDocument,
  FindDocument,
  type FoundMediaFragment,
  type FoundTaskFragment,
} from '../api/operations.ts';
import { useDebounced } from '../parts/controls/use-debounced.ts';
import { t } from '../text/text.ts';
import type { CommandGroup } from './use-commands.ts';

const REST_MS = 200;
/** Shorter texts are in too much. */
const LEAST = 3;
const MOST = 6;
const ID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** Tasks and files of the caller whose prompt holds what is typed, or whose id it is. */
export function useFound(typed: string): readonly CommandGroup[] {
  const navigate = useNavigate();
  const isSignedIn = useIsSignedIn();
  const text = useDebounced(typed.trim(), REST_MS);
  const isId = ID.test(text);
  const byId = useQuery(FindByIdDocument, { variables: { id: text }, skip: !isId });
  const byText = useQuery(FindDocument, {
    variables: { text, first: MOST },
    skip: isId || !isSignedIn || text.length < LEAST,
    fetchPolicy: 'cache-and-network',
  });
  const tasks: readonly FoundTaskFragment[] = isId
    ? [byId.data?.task].filter((one) => !!one)
    : (byText.data?.tasks.edges ?? []).map(({ node }) => node);
  const files: readonly FoundMediaFragment[] = isId
    ? [byId.data?.media].filter((one) => !!one)
    : (byText.data?.medias.edges ?? []).map(({ node }) => node);
  return [
    {
      value: t('page.tasks'),
      items: tasks.map(({ id, kind, state, createdAt, input }) => ({
        id: `task ${id}`,
        name: input?.prompt ?? t(`kind.${kind}`),
        words: `${id} ${text}`,
        icon: 'tasks' as const,
        note: t(`state.${state}`),
        at: createdAt,
        run: () => void navigate({ to: '/tasks/$id', params: { id } }),
      })),
    },
    {
      value: t('page.gallery'),
      items: files.map(({ id, name, small, createdAt, task }) => ({
        id: `file ${id}`,
        name: task?.input?.prompt ?? name,
        words: `${id} ${text}`,
        icon: 'gallery' as const,
        at: createdAt,
        ...(small === null ? {} : { picture: small }),
        run: () => void navigate({ to: '/gallery', search: { open: id } }),
      })),
    },
  ].filter(({ items }) => items.length > 0);
}
