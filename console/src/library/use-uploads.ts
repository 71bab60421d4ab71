import { useEffect, useRef, useState } from 'react';

import { kiln, type StoredFile } from '../api/kiln.ts';
import { problemText } from '../parts/problem.tsx';
import { t, textOr } from '../text/text.ts';
import { isDisguised, toldType, accepts } from '../work/files.ts';

interface UploadsOptions {
  readonly accept: string;
  /** How many more files there is room for. */
  readonly room: number;
  readonly listed: boolean;
  readonly onAdded: (files: readonly StoredFile[]) => void;
}

/** Sends files one after the other: each is looked at before, shows how far it is, and can be cancelled. */
export function useUploads({ accept, room, listed, onAdded }: UploadsOptions) {
  const [sent, setSent] = useState<number | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const control = useRef<AbortController | null>(null);
  useEffect(() => () => control.current?.abort(), []);

  async function take(files: readonly File[]): Promise<void> {
    const { signal } = (control.current = new AbortController());
    const { fitting, refused } = await sorted(files, accept);
    setProblem(refused ?? (fitting.length > room ? t('file.full') : null));
    const added: StoredFile[] = [];
    try {
      for (const file of fitting.slice(0, room)) {
        setSent(0);
        added.push(await kiln.upload(file, { onProgress: setSent, listed, signal }));
      }
    } catch (error) {
      if (!signal.aborted) setProblem(problemText(error) || t('file.refusedByServer'));
    }
    setSent(null);
    if (added.length > 0) onAdded(added);
  }

  return {
    /** The share that is sent, 0 to 1; null while nothing is. */
    sent,
    problem,
    take,
    cancel: () => control.current?.abort(),
  };
}

/** The files that can be sent, and why the first of the others can not. */
async function sorted(files: readonly File[], accept: string) {
  const fitting: File[] = [];
  let refused: string | null = null;
  for (const file of files) {
    const found = await findProblem(file, accept);
    if (found === null) fitting.push(file);
    else refused ??= found;
  }
  return { fitting, refused };
}

async function findProblem(file: File, accept: string): Promise<string | null> {
  if (file.size === 0) return t('file.empty', { name: file.name });
  const told = await toldType(file);
  if (!accepts(accept, told ?? file.type)) return t('file.refused', { accept: kindsText(accept) });
  return isDisguised(file.type, told) ? t('file.disguised', { name: file.name }) : null;
}

/** `image/*,video/*` in words. */
function kindsText(accept: string): string {
  return accept
    .split(',')
    .map((one) => textOr(`gallery.${one.split('/')[0]}`, one))
    .join(', ');
}
