import { type DragEvent, useRef, useState } from 'react';

import type { StoredFile } from '../api/kiln.ts';
import { Icon } from '../parts/icons.tsx';
import { Button } from '../parts/looks/button.tsx';
import { Field, Help, labelLook } from '../parts/looks/inputs.tsx';
import { Figures } from '../parts/looks/lines.tsx';
import { later } from '../parts/page/later.tsx';
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
            className={`flex min-h-16 flex-1 flex-col items-center justify-center gap-0.5 rounded-control border border-dashed p-2 text-center text-12 font-normal text-muted ${isOver ? 'border-focus bg-select' : 'border-line-strong bg-surface hover:bg-hover'}`}
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

/** A chosen file, small, with the button that takes it out. */
export function Thumb({ file, onRemove }: { readonly file: StoredFile; readonly onRemove: () => void }) {
  return (
    <div className="relative size-16 flex-none overflow-hidden rounded-control bg-media" data-file={file.id}>
      {file.contentType.startsWith('image/') ? (
        <img className="h-full w-full object-cover" src={file.url} alt="" />
      ) : (
        <span className="grid h-full place-items-center text-center text-11 font-normal">
          {file.contentType}
        </span>
      )}
      <button
        type="button"
        className="absolute top-0.5 right-0.5 grid size-6 place-items-center rounded-full bg-surface"
        onClick={onRemove}
        aria-label={t('file.remove')}
      >
        <Icon name="close" size={12} />
      </button>
    </div>
  );
}

interface AnyFileFieldProps {
  readonly label: string;
  /** A stored file; anything else is none. */
  readonly value: unknown;
  readonly onChange: (file: StoredFile | null) => void;
}

/** A single file of any kind, such as a parameter of a template or an input of a graph. */
export function AnyFileField({ label, value, onChange }: AnyFileFieldProps) {
  return (
    <FileField
      label={label}
      accept="image/*,video/*,audio/*"
      most={1}
      files={typeof value === 'object' && value !== null ? [value as StoredFile] : []}
      onChange={([file]) => onChange(file ?? null)}
    />
  );
}
