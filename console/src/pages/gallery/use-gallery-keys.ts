import { useEffect } from 'react';

import { isBusy } from '../../parts/controls/keys.ts';

interface GalleryKeys {
  /** Index of the open piece; -1 for none. */
  readonly current: number;
  readonly show: (index: number) => void;
  readonly close: () => void;
  /** Index of the piece above or below the open one; -1 for none. */
  readonly beside: (step: -1 | 1) => number;
  /** Ticks the open piece, or takes the tick away. */
  readonly select: () => void;
  /** Shows the open piece over the whole window. */
  readonly enlarge: () => void;
}

/** Arrows move, X ticks, Z enlarges, Escape closes; not while somebody types, plays or looks at a dialog. */
export function useGalleryKeys(keys: GalleryKeys): void {
  useEffect(() => {
    const { current, show, close, beside, select, enlarge } = keys;
    const isOpen = current !== -1;
    const actions: Readonly<Record<string, () => void>> = {
      ArrowRight: () => show(current + 1),
      ArrowLeft: () => show(current - 1),
      ...(isOpen && {
        ArrowDown: () => show(beside(1)),
        ArrowUp: () => show(beside(-1)),
        Escape: close,
        x: select,
        z: enlarge,
      }),
    };
    const onKey = (event: KeyboardEvent) => {
      const action = isBusy(event) ? undefined : actions[event.key];
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [keys]);
}
