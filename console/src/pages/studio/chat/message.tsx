import { useNavigate } from '@tanstack/react-router';
import { type KeyboardEvent, useState } from 'react';

import type { StoredFile } from '../../../api/kiln.ts';
import { CopyButton } from '../../../parts/buttons.tsx';
import { Icon, type IconName } from '../../../parts/icons.tsx';
import { Button } from '../../../parts/looks/button.tsx';
import { TextArea } from '../../../parts/looks/inputs.tsx';
import { Figures, Row } from '../../../parts/looks/lines.tsx';
import { tagLook } from '../../../parts/looks/panels.tsx';
import { later } from '../../../parts/page/later.tsx';
import { setDraft } from '../../../work/keeper.ts';
import { tc } from './texts.ts';
import { branchesAt, isEmpty, type Message } from './tree.ts';
import type { OpenThread } from './use-thread.ts';

const Markdown = later(async () => (await import('./markdown.tsx')).Markdown, {
  fallback: ({ text }) => <p className="whitespace-pre-wrap">{text}</p>,
});

interface MessageProps {
  readonly message: Message;
  readonly thread: OpenThread;
  /** Whether it still grows. */
  readonly isGrowing: boolean;
}

/** One message with what can be done with it; its branches are leafed through. */
export function MessageView({ message, thread, isGrowing }: MessageProps) {
  const [isEditing, setIsEditing] = useState(false);
  const { role, text, files, model } = message;
  const isUser = role === 'USER';
  if (isEditing) return <Edit message={message} thread={thread} onClose={() => setIsEditing(false)} />;
  return (
    <article
      data-said={isUser ? 'user' : 'assistant'}
      className={`flex min-w-0 flex-col gap-2 ${isUser ? 'items-end pl-[12%] max-sm:pl-0' : ''}`}
    >
      <span className="sr-only">{tc(isUser ? 'chat.user' : 'chat.assistant')}</span>
      {isUser && files.length > 0 && <Files files={files} alt={tc('chat.attached')} />}
      {isUser && text !== '' && (
        <p className="whitespace-pre-wrap py-2 px-4 bg-active rounded-sheet wrap-anywhere max-w-full">
          {text}
        </p>
      )}
      {!isUser && isEmpty(message) && isGrowing && <p className="text-faint">{tc('chat.thinking')}</p>}
      {!isUser && text !== '' && <Markdown text={text} />}
      {!isUser && files.length > 0 && <Files files={files} alt={tc('chat.made')} isLarge />}
      {!isGrowing && (
        <footer className="flex items-center gap-1 min-h-7 min-w-0">
          {!isUser && model !== null && (
            <span className="truncate text-faint text-12 font-normal">{model}</span>
          )}
          <Branches message={message} thread={thread} />
          {text !== '' && <CopyButton text={text} />}
          {isUser && <Action icon="edit" label={tc('chat.edit')} onClick={() => setIsEditing(true)} />}
          {!isUser && <Again message={message} thread={thread} />}
          {!isUser && text !== '' && <AsImage text={text} />}
        </footer>
      )}
    </article>
  );
}

function Action({
  icon,
  label,
  onClick,
  isDisabled = false,
}: {
  readonly icon: IconName;
  readonly label: string;
  readonly onClick: () => void;
  readonly isDisabled?: boolean;
}) {
  return (
    <Button kind="ghost" size="small" icon label={label} onClick={onClick} disabled={isDisabled}>
      <Icon name={icon} size={14} />
    </Button>
  );
}

function Again({ message, thread }: Omit<MessageProps, 'isGrowing'>) {
  const question = thread.messages.find(({ id }) => id === message.parentId);
  if (question === undefined) return null;
  return (
    <Action
      icon="again"
      label={tc('chat.again')}
      isDisabled={thread.answering !== null}
      onClick={() => thread.answer(question)}
    />
  );
}

/** What a model has written, as the prompt of an image. */
function AsImage({ text }: { readonly text: string }) {
  const navigate = useNavigate({ from: '/' });
  const open = () => {
    setDraft('image', { key: '', values: { prompt: text } });
    void navigate({ search: { kind: 'image' } });
  };
  return <Action icon="image" label={tc('chat.asImage')} onClick={open} />;
}

function Branches({ message, thread }: Omit<MessageProps, 'isGrowing'>) {
  const branches = branchesAt(thread.messages, message);
  const at = branches.findIndex(({ id }) => id === message.id);
  if (branches.length < 2) return null;
  const go = (step: number) => {
    const next = branches[at + step];
    if (next !== undefined) thread.show(next);
  };
  const isFixed = thread.answering !== null;
  return (
    <span data-branches className="inline-flex items-center" role="group" aria-label={tc('chat.branches')}>
      <Action icon="left" label={tc('chat.before')} onClick={() => go(-1)} isDisabled={isFixed || at === 0} />
      <Figures small>{tc('chat.branch', { at: at + 1, count: branches.length })}</Figures>
      <Action
        icon="right"
        label={tc('chat.after')}
        onClick={() => go(1)}
        isDisabled={isFixed || at === branches.length - 1}
      />
    </span>
  );
}

/** Images as such, other files by their kind. */
function Files({
  files,
  alt,
  isLarge = false,
}: {
  readonly files: readonly StoredFile[];
  readonly alt: string;
  readonly isLarge?: boolean;
}) {
  return (
    <div className="flex flex-wrap gap-2">
      {files.map(({ id, url, contentType }) =>
        contentType.startsWith('image/') ? (
          <a key={id} href={url} target="_blank" rel="noopener noreferrer">
            <img
              className={`${isLarge ? 'max-h-100 max-w-[min(512px,100%)]' : 'max-h-45 max-w-[min(320px,100%)]'} rounded-panel`}
              src={url}
              alt={alt}
            />
          </a>
        ) : (
          <a key={id} className={tagLook()} href={url} target="_blank" rel="noopener noreferrer">
            {contentType}
          </a>
        ),
      )}
    </div>
  );
}

/** A question written anew: it becomes a branch, and what was answered stays. */
function Edit({
  message,
  thread,
  onClose,
}: Omit<MessageProps, 'isGrowing'> & { readonly onClose: () => void }) {
  const [words, setWords] = useState(message.text);
  const send = () => {
    if (words.trim() === '' || thread.answering !== null) return;
    thread.say(words, message.files, message.parentId);
    onClose();
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Escape') onClose();
    if (event.key !== 'Enter' || event.shiftKey) return;
    event.preventDefault();
    send();
  };
  return (
    <div className="flex flex-col gap-2 [&_textarea]:min-h-24">
      {message.files.length > 0 && <Files files={message.files} alt={tc('chat.attached')} />}
      <TextArea
        aria-label={tc('chat.edit')}
        value={words}
        onChange={({ target }) => setWords(target.value)}
        onKeyDown={onKey}
        // oxlint-disable-next-line jsx-a11y/no-autofocus -- it takes the place of what was pressed
        autoFocus
      />
      <Row>
        <Button size="small" className="ml-auto" onClick={onClose}>
          {tc('chat.keep')}
        </Button>
        <Button kind="primary" size="small" onClick={send} disabled={thread.answering !== null}>
          {tc('chat.send')}
        </Button>
      </Row>
    </div>
  );
}
