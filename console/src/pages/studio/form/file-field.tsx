import { type ClipboardEvent, type DragEvent, useRef, useState } from 'react';

import { type StoredFile, uploadFile } from '../../../api/upload.ts';
import { Icon } from '../../../parts/icons.tsx';
import { t } from '../../../text/text.ts';

interface FileFieldProps {
  readonly label: string;
  readonly accept: string;
  readonly most: number;
  readonly files: readonly StoredFile[];
  readonly onChange: (files: readonly StoredFile[]) => void;
}

/** Files by drop, paste or choice; each is uploaded at once and shown, and can be taken out again. */
export function FileField({ label, accept, most, files, onChange }: FileFieldProps) {
  const [sent, setSent] = useState<number | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [isOver, setIsOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);

  async function take(list: readonly File[]): Promise<void> {
    setProblem(null);
    const added: StoredFile[] = [];
    try {
      for (const file of list.slice(0, most - files.length)) {
        setSent(0);
        added.push(await uploadFile(file, { signal: new AbortController().signal, onProgress: setSent }));
      }
    } catch (error) {
      setProblem((error as Error).message);
    }
    setSent(null);
    if (added.length > 0) onChange([...files, ...added]);
  }

  const events = {
    onDragOver: (event: DragEvent) => {
      event.preventDefault();
      setIsOver(true);
    },
    onDragLeave: () => setIsOver(false),
    onDrop: (event: DragEvent) => {
      event.preventDefault();
      setIsOver(false);
      void take([...event.dataTransfer.files]);
    },
    onPaste: (event: ClipboardEvent) => void take([...event.clipboardData.files]),
  };
  return (
    <div className="field">
      <span className="lab">
        {label}
        <span className="push faint num font-normal">{t('file.count', { count: files.length, most })}</span>
      </span>
      <div className="refs" {...events}>
        {files.map((file) => (
          <Thumb
            key={file.id}
            file={file}
            onRemove={() => onChange(files.filter(({ id }) => id !== file.id))}
          />
        ))}
        {files.length < most && (
          <button
            type="button"
            className={isOver ? 'drop over' : 'drop'}
            onClick={() => input.current?.click()}
            disabled={sent !== null}
          >
            <Icon name="plus" />
            <span>
              {sent === null ? t('file.add') : t('file.sending', { percent: Math.round(sent * 100) })}
            </span>
          </button>
        )}
      </div>
      <input
        ref={input}
        type="file"
        className="hidden"
        tabIndex={-1}
        aria-label={label}
        accept={accept}
        multiple={most > 1}
        onChange={({ target }) => {
          void take([...(target.files ?? [])]);
          target.value = '';
        }}
      />
      {problem !== null && (
        <p className="help bad" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

function Thumb({ file, onRemove }: { readonly file: StoredFile; readonly onRemove: () => void }) {
  const isImage = file.contentType.startsWith('image/');
  return (
    <div className="ref">
      {isImage ? <img src={file.url} alt="" /> : <span className="ref-kind">{file.contentType}</span>}
      <button type="button" onClick={onRemove} aria-label={t('file.remove')}>
        <Icon name="close" size={12} />
      </button>
    </div>
  );
}
