import { useQuery } from '@apollo/client/react';
import { Autocomplete } from '@base-ui/react/autocomplete';
import { useNavigate } from '@tanstack/react-router';
import { useLayoutEffect, useRef, useState } from 'react';

import { useIsSignedIn } from '../api/caller.ts';
import type { FoundMediaFragment, FoundTaskFragment } from '../api/documents/operations.ts';
import { FindByIdDocument, FindDocument } from '../api/documents/shell.ts';
import { useDebounced } from '../parts/controls/typing.ts';
import { Icon } from '../parts/icons.tsx';
import { commandLook } from '../parts/looks/choices.tsx';
import { problemText } from '../parts/problem.tsx';
import { Ago } from '../parts/time.tsx';
import { t } from '../text/text.ts';
import { type Command, type CommandGroup, useCommands } from './use-commands.ts';
import { takeTyped } from './use-shell-keys.ts';

interface PaletteProps {
  readonly onClose: () => void;
  readonly onKeys: () => void;
}

/** Everything that can be gone to or done, found by a part of its name; tasks and files by prompt or id too. */
export function Palette({ onClose, onKeys }: PaletteProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [words, setWords] = useState('');
  useLayoutEffect(() => {
    dialog.current?.showModal();
    const early = takeTyped();
    if (early !== null) setWords(early);
  }, []);
  const commands = useCommands(onKeys);
  const found = useFound(words);
  const groups = [...commands, ...found.groups];
  // Closed first: the focus goes back to the page before the page changes.
  const run = (command: Command) => {
    dialog.current?.close();
    command.run();
  };
  return (
    <dialog
      ref={dialog}
      className="mx-auto mt-[12vh] mb-auto w-[min(600px,calc(100vw-32px))] overflow-hidden"
      aria-label={t('palette.title')}
      closedby="any"
      onClose={onClose}
    >
      <Autocomplete.Root
        open
        inline
        items={groups}
        value={words}
        onValueChange={setWords}
        autoHighlight="always"
        keepHighlight
        itemToStringValue={({ name, words: more = '' }: Command) => `${name} ${more}`}
      >
        <div className="flex h-13 items-center gap-3 border-b border-line px-4">
          <Icon name="search" size={18} />
          <Autocomplete.Input
            className="min-w-0 flex-1 border-0 bg-transparent text-16 outline-none!"
            aria-label={t('palette.title')}
            placeholder={t('palette.search')}
          />
          <kbd>esc</kbd>
        </div>
        <Autocomplete.Empty className="text-muted [&:not(:empty)]:p-4">
          {found.error === undefined
            ? t(found.isLooking ? 'list.loading' : 'palette.none')
            : problemText(found.error)}
        </Autocomplete.Empty>
        <Autocomplete.List className="max-h-105 overflow-y-auto p-2">
          {(group: CommandGroup) => <Commands key={group.value} group={group} onRun={run} />}
        </Autocomplete.List>
      </Autocomplete.Root>
    </dialog>
  );
}

interface CommandsProps {
  readonly group: CommandGroup;
  readonly onRun: (command: Command) => void;
}

function Commands({ group, onRun }: CommandsProps) {
  return (
    <Autocomplete.Group items={group.items}>
      <Autocomplete.GroupLabel className="p-2 text-12 font-normal text-faint">
        {group.value}
      </Autocomplete.GroupLabel>
      <Autocomplete.Collection>
        {(command: Command) => (
          <Autocomplete.Item
            key={command.id}
            value={command}
            data-command
            className={commandLook}
            onClick={() => onRun(command)}
          >
            {command.image === undefined ? (
              <Icon name={command.icon} />
            ) : (
              <img className="w-7 h-7 object-cover rounded-small" src={command.image} alt="" />
            )}
            <span className="truncate min-w-0">{command.name}</span>
            {command.at !== undefined && (
              <span className="whitespace-nowrap text-faint text-12 font-normal">
                {command.note} <Ago at={command.at} />
              </span>
            )}
            <span className="ml-auto flex gap-1" aria-hidden="true">
              {command.keys?.map((key, place) => (
                // G G is the gallery: the same key twice.
                <kbd key={`${place} ${key}`}>{key}</kbd>
              ))}
            </span>
          </Autocomplete.Item>
        )}
      </Autocomplete.Collection>
    </Autocomplete.Group>
  );
}

const REST_MS = 200;
/** Shorter texts are in too much. */
const LEAST = 3;
const MOST = 6;
const ID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** Tasks and files of the caller whose prompt holds what is typed, or whose id it is. */
function useFound(typed: string) {
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
  const groups: readonly CommandGroup[] = [
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
        ...(small === null ? {} : { image: small }),
        run: () => void navigate({ to: '/gallery', search: { open: id } }),
      })),
    },
  ].filter(({ items }) => items.length > 0);
  return {
    groups,
    isLooking: typed.trim() !== text || byId.loading || byText.loading,
    error: byId.error ?? byText.error,
  };
}
