import { type ClipboardEvent, type DragEvent, type KeyboardEvent, useRef, useState } from 'react';

import type { StoredFile } from '../../../api/upload.ts';
import { useUploads } from '../../../library/use-uploads.ts';
import { Button } from '../../../parts/controls/button.tsx';
import { Help } from '../../../parts/controls/inputs.tsx';
import { Icon } from '../../../parts/icons.tsx';
import { Row } from '../../../parts/page/lines.tsx';
import { ProgressBar } from '../../../parts/task/progress.tsx';
import { t } from '../../../text/text.ts';
import { keepChats, keptChats } from './kept-chats.ts';
import { tc } from './texts.ts';

interface ComposerProps {
  /** Types of files that the model takes; empty for none. */
  readonly accept: string;
  readonly isAnswering: boolean;
  readonly onSend: (text: string, files: readonly StoredFile[]) => void;
  readonly onStop: () => void;
}

/** Most files of one message. */
const MOST_FILES = 10;

/** Where a message is written: Enter sends it, files come by choice, drop or paste. */
export function Composer({ accept, isAnswering, onSend, onStop }: ComposerProps) {
  const [words, setWords] = useState(() => keptChats().words);
  const [files, setFiles] = useState<readonly StoredFile[]>([]);
  const input = useRef<HTMLInputElement>(null);
  const { sent, problem, take, cancel } = useUploads({
    accept,
    room: MOST_FILES - files.length,
    listed: true,
    onAdded: (added) => setFiles((before) => [...before, ...added]),
  });
  const write = (text: string) => {
    setWords(text);
    keepChats({ words: text });
  };
  const isEmpty = words.trim() === '' && files.length === 0;
  const send = () => {
    if (isEmpty || isAnswering || sent !== null) return;
    onSend(words.trim(), files);
    write('');
    setFiles([]);
  };
  const receive = (list: FileList | null) => void (accept !== '' && list?.length && take([...list]));
  return (
    <div
      className="flex flex-col gap-2 p-3 border border-line rounded-sheet bg-surface [&_textarea]:border-0 [&_textarea]:[outline:0] [&_textarea]:bg-transparent [&_textarea]:resize-none [&_textarea]:text-14 [&_textarea]:font-normal [&_textarea]:[field-sizing:content] [&_textarea]:min-h-10 [&_textarea]:max-h-[30vh] [&_textarea]:w-full max-sm:[&_textarea]:text-16 max-sm:[&_textarea]:font-normal focus-within:border-focus focus-within:shadow-[0_0_0_1px_var(--focus)]"
      onDragOver={(event: DragEvent) => event.preventDefault()}
      onDrop={(event: DragEvent) => {
        event.preventDefault();
        receive(event.dataTransfer.files);
      }}
      onPaste={(event: ClipboardEvent) => receive(event.clipboardData.files)}
    >
      <Attached files={files} onChange={setFiles} />
      {sent !== null && <ProgressBar progress={Math.round(sent * 100)} stage={tc('chat.attach')} />}
      {problem !== null && (
        <Help bad role="alert">
          {problem}
        </Help>
      )}
      <textarea
        rows={1}
        aria-label={tc('chat.say')}
        placeholder={tc('chat.say')}
        value={words}
        onChange={({ target }) => write(target.value)}
        onKeyDown={onEnter(send)}
      />
      <Row>
        {accept !== '' && (
          <Button
            kind="ghost"
            icon
            aria-label={tc('chat.attach')}
            title={tc('chat.attach')}
            onClick={() => (sent === null ? input.current?.click() : cancel())}
          >
            <Icon name={sent === null ? 'plus' : 'close'} />
          </Button>
        )}
        <span className="text-faint text-12 font-normal max-sm:hidden">{tc('chat.keys')}</span>
        <Button
          kind="primary"
          className="ml-auto"
          onClick={isAnswering ? onStop : send}
          disabled={!isAnswering && (isEmpty || sent !== null)}
        >
          <Icon name={isAnswering ? 'close' : 'chat'} />
          {tc(isAnswering ? 'chat.stop' : 'chat.send')}
        </Button>
      </Row>
      <input
        ref={input}
        type="file"
        className="hidden"
        tabIndex={-1}
        aria-label={tc('chat.attach')}
        accept={accept}
        multiple
        onChange={({ target }) => {
          receive(target.files);
          target.value = '';
        }}
      />
    </div>
  );
}

interface AttachedProps {
  readonly files: readonly StoredFile[];
  readonly onChange: (files: readonly StoredFile[]) => void;
}

/** Calls back for Enter, which makes a new line with Shift, and chooses what an input method offers. */
function onEnter(send: () => void) {
  return (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
}

/** The files of a message that is not sent yet; each can be taken out. */
function Attached({ files, onChange }: AttachedProps) {
  if (files.length === 0) return null;
  return (
    <div className="flex flex-wrap gap-2 [&>a>img]:max-h-45 [&>a>img]:max-w-[min(320px,100%)] [&>a>img]:rounded-panel">
      {files.map((file) => (
        <div
          key={file.id}
          className="ref w-16 h-16 rounded-control overflow-hidden relative bg-media flex-none [&_img]:w-full [&_img]:h-full [&_img]:object-cover [&_button]:absolute [&_button]:right-0.5 [&_button]:top-0.5 [&_button]:w-6 [&_button]:h-6 [&_button]:rounded-full [&_button]:bg-surface [&_button]:grid [&_button]:place-items-center"
        >
          {file.contentType.startsWith('image/') ? (
            <img src={file.url} alt="" />
          ) : (
            <span className="grid place-items-center h-full text-11 font-normal text-center">
              {file.contentType}
            </span>
          )}
          <button
            type="button"
            aria-label={t('file.remove')}
            onClick={() => onChange(files.filter(({ id }) => id !== file.id))}
          >
            <Icon name="close" size={12} />
          </button>
        </div>
      ))}
    </div>
  );
}
