import { type ClipboardEvent, type DragEvent, type KeyboardEvent, useRef, useState } from 'react';

import type { StoredFile } from '../../../api/kiln.ts';
import { Thumb } from '../../../library/file-field.tsx';
import { useUploads } from '../../../library/use-uploads.ts';
import { Icon } from '../../../parts/icons.tsx';
import { Button } from '../../../parts/looks/button.tsx';
import { Help } from '../../../parts/looks/inputs.tsx';
import { Row } from '../../../parts/looks/lines.tsx';
import { ProgressBar } from '../../../parts/task/progress.tsx';
import { keepChats, keptChats } from './kept-chats.ts';
import { tc } from './texts.ts';

interface ComposerProps {
  /** Types of files that the model takes; empty for none. */
  readonly accept: string;
  readonly isAnswering: boolean;
  /** Whether a message can be written but not sent yet. */
  readonly isWaiting: boolean;
  readonly onSend: (text: string, files: readonly StoredFile[]) => void;
  readonly onStop: () => void;
}

/** Most files of one message. */
const MOST_FILES = 10;

/** Where a message is written: Enter sends it, files come by choice, drop or paste. */
export function Composer({ accept, isAnswering, isWaiting, onSend, onStop }: ComposerProps) {
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
    if (isEmpty || isAnswering || isWaiting || sent !== null) return;
    onSend(words.trim(), files);
    write('');
    setFiles([]);
  };
  const receive = (list: FileList | null) => void (accept !== '' && list?.length && take([...list]));
  return (
    <div
      className="flex flex-col gap-2 p-3 border border-line rounded-sheet bg-surface focus-within:border-focus focus-within:shadow-[0_0_0_1px_var(--focus)]"
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
        className="max-h-[30vh] min-h-10 w-full resize-none border-0 bg-transparent text-14 font-normal outline-none! [field-sizing:content] max-sm:text-16"
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
            label={tc('chat.attach')}
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
          disabled={!isAnswering && (isEmpty || isWaiting || sent !== null)}
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
    <div className="flex flex-wrap gap-2">
      {files.map((file) => (
        <Thumb
          key={file.id}
          file={file}
          onRemove={() => onChange(files.filter(({ id }) => id !== file.id))}
        />
      ))}
    </div>
  );
}
