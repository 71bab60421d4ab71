import { type DragEvent, useRef, useState } from 'react';

import type { StoredFile } from '../api/upload.ts';
import { Button } from '../parts/controls/button.tsx';
import { Field, Help, labelLook } from '../parts/controls/inputs.tsx';
import { Icon } from '../parts/icons.tsx';
import { later } from '../parts/page/later.tsx';
import { Figures } from '../parts/page/lines.tsx';
import { ProgressBar } from '../parts/task/progress.tsx';
import { t } from '../text/text.ts';
import { storedFile } from '../work/reuse.ts';
import { useUploads } from './use-uploads.ts';

const GalleryPicker = later(async () => (await import('./gallery-picker.tsx')).GalleryPicker);

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
  const { sent, problem, take, cancel } = useUploads({
    accept,
    room: most - files.length,
    listed,
    onAdded: (added) => onChange([...files, ...added]),
  });
  const [isOver, setIsOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);

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
    <Field>
      <span className={labelLook}>
        {label}
        <Figures tone="faint" className="font-normal ml-auto">
          {t('file.count', { count: files.length, most })}
        </Figures>
      </span>
      <div className="flex gap-2 flex-wrap" {...events}>
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
            className={
              isOver
                ? 'drop over flex-1 min-h-16 border border-dashed rounded-control flex flex-col items-center justify-center gap-0.5 text-muted text-12 font-normal text-center p-2 border-focus bg-select'
                : 'drop flex-1 min-h-16 border border-dashed border-line-strong rounded-control flex flex-col items-center justify-center gap-0.5 text-muted text-12 font-normal text-center p-2 bg-surface hover:bg-hover'
            }
            onClick={() => input.current?.click()}
            disabled={sent !== null}
          >
            <Icon name="plus" />
            <span>
              {sent === null ? t('file.add') : t('file.sending', { percent: Math.round(sent * 100) })}
            </span>
          </button>
        )}
        {sent !== null && (
          <Button size="small" className="self-center" onClick={cancel}>
            <Icon name="close" size={14} />
            {t('task.cancel')}
          </Button>
        )}
      </div>
      {sent !== null && <ProgressBar progress={Math.round(sent * 100)} stage={label} />}
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
        <Help bad role="alert">
          {problem}
        </Help>
      )}
    </Field>
  );
}

function FromGallery({
  accept,
  onPick,
}: Pick<FileFieldProps, 'accept'> & { readonly onPick: (file: StoredFile) => void }) {
  const [isPicking, setIsPicking] = useState(false);
  return (
    <>
      <Button kind="ghost" size="small" className="self-start" onClick={() => setIsPicking(true)}>
        <Icon name="gallery" size={14} />
        {t('file.fromGallery')}
      </Button>
      {isPicking && (
        <GalleryPicker
          accept={accept}
          onClose={() => setIsPicking(false)}
          onPick={(media) => {
            setIsPicking(false);
            onPick(storedFile(media));
          }}
        />
      )}
    </>
  );
}

function Thumb({ file, onRemove }: { readonly file: StoredFile; readonly onRemove: () => void }) {
  const isImage = file.contentType.startsWith('image/');
  return (
    <div className="ref w-16 h-16 rounded-control overflow-hidden relative bg-media flex-none [&_img]:w-full [&_img]:h-full [&_img]:object-cover [&_button]:absolute [&_button]:right-0.5 [&_button]:top-0.5 [&_button]:w-6 [&_button]:h-6 [&_button]:rounded-full [&_button]:bg-surface [&_button]:grid [&_button]:place-items-center">
      {isImage ? (
        <img src={file.url} alt="" />
      ) : (
        <span className="grid place-items-center h-full text-11 font-normal text-center">
          {file.contentType}
        </span>
      )}
      <button type="button" onClick={onRemove} aria-label={t('file.remove')}>
        <Icon name="close" size={12} />
      </button>
    </div>
  );
}
