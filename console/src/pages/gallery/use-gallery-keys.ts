import { useEffect } from 'react';

interface GalleryKeys {
  /** Index of the open piece; -1 for none. */
  readonly current: number;
  readonly show: (index: number) => void;
  readonly close: () => void;
}

/** Left and right move to the next piece, Escape closes it; not while somebody types, plays or looks at a dialog. */
export function useGalleryKeys({ current, show, close }: GalleryKeys): void {
  useEffect(() => {
    const onKey = ({ key, target }: KeyboardEvent) => {
      const isBusy =
        target instanceof HTMLElement &&
        target.closest('input, textarea, select, video, audio, dialog') !== null;
      if (isBusy) return;
      if (key === 'ArrowRight') show(current + 1);
      if (key === 'ArrowLeft') show(current - 1);
      if (key === 'Escape' && current !== -1) close();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
}
