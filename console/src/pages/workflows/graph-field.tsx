import { type DragEvent, useId, useRef, useState } from 'react';

import { Icon } from '../../parts/icons.tsx';
import { Button } from '../../parts/looks/button.tsx';
import { Field, Help, Label, TextArea } from '../../parts/looks/inputs.tsx';
import { t } from '../../text/text.ts';

/** Largest graph in bytes that is read here; ComfyUI's own are a few hundred kilobytes. */
const MOST_BYTES = 2 << 20;

interface GraphFieldProps {
  readonly text: string;
  /** What is wrong with it; null when it can be read. */
  readonly problem: string | null;
  readonly onText: (text: string) => void;
}

/** A graph in API format: pasted, dropped, or chosen as a file. */
export function GraphField({ text, problem, onText }: GraphFieldProps) {
  const id = useId();
  const file = useRef<HTMLInputElement>(null);
  /** Why a file was not read. */
  const [refused, setRefused] = useState<string | null>(null);
  const write = (words: string) => {
    setRefused(null);
    onText(words);
  };
  const read = (files: FileList | null) => {
    const [one] = files ?? [];
    if (one === undefined) return;
    if (one.size > MOST_BYTES) return setRefused(t('workflows.tooLarge'));
    one.text().then(write, () => setRefused(t('file.unreadable', { name: one.name })));
  };
  const said = refused ?? problem;
  return (
    <Field
      onDragOver={(event: DragEvent) => event.preventDefault()}
      onDrop={(event: DragEvent) => {
        event.preventDefault();
        read(event.dataTransfer.files);
      }}
    >
      <Label htmlFor={id}>{t('workflows.graph')}</Label>
      <TextArea
        id={id}
        className="font-mono"
        rows={8}
        spellCheck={false}
        placeholder={t('workflows.paste')}
        aria-invalid={said !== null}
        aria-describedby={`${id}-help`}
        value={text}
        onChange={({ target }) => write(target.value)}
      />
      <Help bad={said !== null} id={`${id}-help`}>
        {said ?? t('workflows.graphHelp')}
      </Help>
      <input
        ref={file}
        className="sr-only"
        type="file"
        accept="application/json,.json"
        tabIndex={-1}
        aria-label={t('workflows.file')}
        onChange={({ target }) => {
          read(target.files);
          // The same file, changed meanwhile, may be chosen again.
          target.value = '';
        }}
      />
      <Button size="small" className="self-start" onClick={() => file.current?.click()}>
        <Icon name="input" size={14} />
        {t('workflows.file')}
      </Button>
    </Field>
  );
}

/** The graph that a text holds; null with what is wrong where it holds none. */
export function parseGraph(text: string): { readonly graph: object | null; readonly problem: string | null } {
  if (text.trim() === '') return { graph: null, problem: null };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { graph: null, problem: t('workflows.noJson') };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { graph: null, problem: t('workflows.noJson') };
  }
  // What the editor saves for itself has nodes and links in lists.
  if ('nodes' in value && 'links' in value) return { graph: null, problem: t('workflows.editorFormat') };
  return { graph: value, problem: null };
}
