import { type DragEvent, lazy, Suspense, useRef, useState } from 'react';

import { type StoredFile, uploadFile } from '../api/upload.ts';
import { Icon } from '../parts/icons.tsx';
import { problemText } from '../parts/problem.tsx';
import { t, textOr } from '../text/text.ts';
import { accepts } from '../work/files.ts';
import { storedFile } from '../work/reuse.ts';

const GalleryPicker = lazy(async () => ({
  default: (await import('./gallery-picker.tsx')).GalleryPicker,
}));

interface FileFieldProps {
  readonly label: string;
  readonly accept: string;
  readonly most: number;
  readonly files: readonly StoredFile[];
  readonly onChange: (files: readonly StoredFile[]) => void;
  /** Whether the gallery shows what is uploaded here; true unless said otherwise. */
  readonly listed?: boolean;
}

/** Files by drop, paste or choice; each is uploaded at once and shown, and can be taken out again. */
export function FileField({ label, accept, most, files, onChange, listed = true }: FileFieldProps) {
  const [sent, setSent] = useState<number | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [isOver, setIsOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);

  async function take(list: readonly File[]): Promise<void> {
    setProblem(null);
    const added: StoredFile[] = [];
    const fitting = list.filter(({ type }) => accepts(accept, type));
    if (fitting.length < list.length) setProblem(t('file.refused', { accept: kindsText(accept) }));
    else if (list.length > most - files.length) setProblem(t('file.full'));
    try {
      for (const file of fitting.slice(0, most - files.length)) {
        setSent(0);
        added.push(await uploadFile(file, { onProgress: setSent, listed }));
      }
    } catch (error) {
      setProblem(problemText(error) || t('file.refusedByServer'));
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
      event.stopPropagation();
      setIsOver(false);
      void take([...event.dataTransfer.files]);
    },
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
      {files.length < most && <FromGallery accept={accept} onPick={(file) => onChange([...files, file])} />}
      <input
        ref={input}
        type="file"
        className="hidden"
        tabIndex={-1}
        aria-label={label}
        accept={accept}
        multiple={most > 1}
        disabled={files.length >= most}
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

/** `image/*,video/*` in words. */
function kindsText(accept: string): string {
  return accept
    .split(',')
    .map((one) => textOr(`gallery.${one.split('/')[0]}`, one))
    .join(', ');
}

function FromGallery({
  accept,
  onPick,
}: Pick<FileFieldProps, 'accept'> & { readonly onPick: (file: StoredFile) => void }) {
  const [isPicking, setIsPicking] = useState(false);
  return (
    <>
      <button type="button" className="btn sm ghost self-start" onClick={() => setIsPicking(true)}>
        <Icon name="gallery" size={14} />
        {t('file.fromGallery')}
      </button>
      {isPicking && (
        <Suspense>
          <GalleryPicker
            accept={accept}
            onClose={() => setIsPicking(false)}
            onPick={(media) => {
              setIsPicking(false);
              onPick(storedFile(media));
            }}
          />
        </Suspense>
      )}
    </>
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
