import { useQuery } from '@apollo/client/react';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { useIsSignedIn } from '../../../api/caller.ts';
import { client } from '../../../api/client.ts';
import type { ConversationPartsFragment } from '../../../api/documents/operations.ts';
import {
  ConversationsDocument,
  DeleteConversationDocument,
  SaveConversationDocument,
} from '../../../api/documents/studio.ts';
import { Modal } from '../../../parts/controls/modal.tsx';
import { useDebounced } from '../../../parts/controls/typing.ts';
import { Icon } from '../../../parts/icons.tsx';
import { Button } from '../../../parts/looks/button.tsx';
import { findLook, Input } from '../../../parts/looks/inputs.tsx';
import { Small } from '../../../parts/looks/lines.tsx';
import { Problem } from '../../../parts/problem.tsx';
import { Ago } from '../../../parts/time.tsx';
import { t } from '../../../text/text.ts';
import { keepChats, keptChats } from './kept-chats.ts';
import { tc } from './texts.ts';

/** How many are shown at first, and with each further page. */
const PAGE = 50;
const SEARCH_MS = 250;

interface HistoryProps {
  readonly openId: string | undefined;
  readonly onNew: () => void;
  /** Called when one is chosen. */
  readonly onChosen?: () => void;
}

/** The conversations that are kept, the last changed first, with a search over names and messages. */
export function History({ openId, onNew, onChosen }: HistoryProps) {
  const isSignedIn = useIsSignedIn();
  const [find, setFind] = useState('');
  const search = useDebounced(find.trim(), SEARCH_MS);
  const variables = {
    first: PAGE,
    ...(search !== '' && { search }),
    // Nobody's are found by the ids that this browser keeps.
    ...(!isSignedIn && { ids: [...keptChats().ids] }),
  };
  const { data, previousData, error, loading, fetchMore } = useQuery(ConversationsDocument, {
    variables,
    fetchPolicy: 'cache-and-network',
  });
  const found = (data ?? previousData)?.conversations ?? [];
  const [failed, setFailed] = useState<unknown>(undefined);
  const more = () => {
    setFailed(undefined);
    fetchMore({
      variables: { ...variables, after: found.at(-1)?.revision },
      updateQuery: (before, { fetchMoreResult }) => ({
        conversations: [...before.conversations, ...fetchMoreResult.conversations],
      }),
    }).catch(setFailed);
  };
  const problem = error ?? failed;
  return (
    <div className="flex flex-col gap-3">
      <Button onClick={onNew}>
        <Icon name="plus" size={14} />
        {tc('chat.new')}
      </Button>
      <div className={`${findLook} w-full flex-none`}>
        <Icon name="search" />
        <Input
          className="pl-8"
          type="search"
          aria-label={tc('chat.search')}
          placeholder={tc('chat.search')}
          value={find}
          onChange={({ target }) => setFind(target.value)}
        />
      </div>
      {problem !== undefined && <Problem error={problem} />}
      {data !== undefined && found.length === 0 && (
        <Small as="p">{tc(search === '' ? 'chat.none' : 'chat.noMatch')}</Small>
      )}
      <ul>
        {found.map((one) => (
          <Entry key={one.id} conversation={one} isOpen={one.id === openId} onChosen={onChosen} />
        ))}
      </ul>
      {found.length > 0 && found.length % PAGE === 0 && (
        <Button kind="ghost" size="small" disabled={loading} onClick={more}>
          {t('list.more')}
        </Button>
      )}
    </div>
  );
}

interface EntryProps {
  readonly conversation: ConversationPartsFragment;
  readonly isOpen: boolean;
  readonly onChosen: (() => void) | undefined;
}

function Entry({ conversation, isOpen, onChosen }: EntryProps) {
  const [dialog, setDialog] = useState<'rename' | 'delete' | null>(null);
  const { id, title, updatedAt } = conversation;
  return (
    <li className="group relative rounded-control">
      <Link
        className={`flex min-w-0 flex-col rounded-[inherit] px-3 py-2 max-sm:pr-21 ${isOpen ? 'bg-active font-medium' : 'hover:bg-hover'}`}
        to="/"
        search={{ kind: 'chat', chat: id }}
        aria-current={isOpen ? 'page' : undefined}
        onClick={onChosen}
        title={title}
      >
        <span className="truncate">{title}</span>
        <span className="text-faint text-12 font-normal">
          <Ago at={updatedAt} />
        </span>
      </Link>
      <span className="absolute top-1 right-1 bottom-auto left-auto flex bg-active rounded-control opacity-0 max-sm:opacity-100 focus-within:opacity-100 group-hover:opacity-100">
        <Button
          kind="ghost"
          size="small"
          icon
          aria-label={tc('chat.renameOne', { title })}
          title={tc('chat.rename')}
          onClick={() => setDialog('rename')}
        >
          <Icon name="edit" size={14} />
        </Button>
        <Button
          kind="ghost"
          size="small"
          icon
          aria-label={tc('chat.deleteOne', { title })}
          title={tc('chat.delete')}
          onClick={() => setDialog('delete')}
        >
          <Icon name="trash" size={14} />
        </Button>
      </span>
      {dialog === 'rename' && <Rename conversation={conversation} onClose={() => setDialog(null)} />}
      {dialog === 'delete' && (
        <Delete conversation={conversation} isOpen={isOpen} onClose={() => setDialog(null)} />
      )}
    </li>
  );
}

interface DialogProps {
  readonly conversation: ConversationPartsFragment;
  readonly onClose: () => void;
}

function Rename({ conversation, onClose }: DialogProps) {
  const [title, setTitle] = useState(conversation.title);
  const [failed, setFailed] = useState<unknown>(null);
  const rename = async () => {
    const { id, generator, model, system, temperature, maxTokens, options, currentId } = conversation;
    const input = { title, generator, model, system, temperature, maxTokens, options, currentId };
    await client
      .mutate({
        mutation: SaveConversationDocument,
        variables: { id, input },
        refetchQueries: [ConversationsDocument],
      })
      .then(onClose, setFailed);
  };
  return (
    <Modal
      title={tc('chat.rename')}
      onClose={onClose}
      foot={
        <Button kind="primary" disabled={title.trim() === ''} onClick={() => void rename()}>
          {tc('chat.save')}
        </Button>
      }
    >
      <Input
        aria-label={tc('chat.name')}
        value={title}
        maxLength={200}
        onChange={({ target }) => setTitle(target.value)}
      />
      {failed !== null && <Problem error={failed} />}
    </Modal>
  );
}

function Delete({ conversation, isOpen, onClose }: DialogProps & { readonly isOpen: boolean }) {
  const navigate = useNavigate({ from: '/' });
  const [failed, setFailed] = useState<unknown>(null);
  const { id, title } = conversation;
  const remove = async () => {
    try {
      await client.mutate({
        mutation: DeleteConversationDocument,
        variables: { id },
        refetchQueries: [ConversationsDocument],
      });
      keepChats({ ids: keptChats().ids.filter((one) => one !== id) });
      if (isOpen) await navigate({ search: { kind: 'chat' } });
      onClose();
    } catch (error) {
      setFailed(error);
    }
  };
  return (
    <Modal
      title={tc('chat.deleteAsk')}
      onClose={onClose}
      foot={
        <Button kind="bad" onClick={() => void remove()}>
          <Icon name="trash" size={14} />
          {tc('chat.delete')}
        </Button>
      }
    >
      <p>{tc('chat.deleteText', { title })}</p>
      {failed !== null && <Problem error={failed} />}
    </Modal>
  );
}
