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
  const control = useRef(new AbortController());
  const line = useRef(Promise.resolve());
  // An upload ends later than the drawing in which it was begun: files may have come and gone since.
  const now = useRef({ room, onAdded });
  useEffect(() => {
    now.current = { room, onAdded };
  });
  useEffect(() => () => control.current.abort(), []);

  async function send(files: readonly File[], signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { fitting, refused } = await sorted(files, accept);
    if (signal.aborted) return;
    const { room: left } = now.current;
    const why = refused ?? (fitting.length > left ? t('file.full') : null);
    if (why !== null) setProblem(why);
    const added: StoredFile[] = [];
    try {
      for (const file of fitting.slice(0, left)) {
        setSent(0);
        added.push(await kiln.upload(file, { onProgress: setSent, listed, signal }));
      }
    } catch (error) {
      if (!signal.aborted) setProblem(problemText(error) || t('file.refusedByServer'));
    }
    setSent(null);
    if (added.length === 0) return;
    now.current.onAdded(added);
    // Until it is drawn with these.
    now.current = { ...now.current, room: now.current.room - added.length };
  }

  return {
    /** The share that is sent, 0 to 1; null while nothing is. */
    sent,
    problem,
    /** Sends these after those that are being sent. */
    take: (files: readonly File[]): Promise<void> => {
      const { signal } = control.current;
      // Not when their turn comes: why those before them failed is still to be read then.
      setProblem(null);
      return (line.current = line.current.then(() => send(files, signal)));
    },
    /** Ends the one that is being sent, and all that wait for it. */
    cancel: () => {
      control.current.abort();
      control.current = new AbortController();
    },
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
  const told = await toldType(file).catch(() => undefined);
  if (told === undefined) return t('file.unreadable', { name: file.name });
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
