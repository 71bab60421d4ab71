import { useState } from 'react';

import { t } from '../../text/text.ts';

/** How high rows are, as a share of what fits the window. */
export const SIZES = { small: 0.65, medium: 1, large: 1.6 } as const;

/** The size of the pictures in the grid. */
export type Size = keyof typeof SIZES;

const STORAGE_KEY = 'kiln.gallery';

/** The size that this browser has chosen, and how another is. */
export function useSize(): readonly [Size, (size: Size) => void] {
  const [size, setSize] = useState<Size>(() => {
    const stored = localStorage.getItem(STORAGE_KEY) ?? '';
    return stored in SIZES ? (stored as Size) : 'medium';
  });
  const choose = (next: Size) => {
    localStorage.setItem(STORAGE_KEY, next);
    setSize(next);
  };
  return [size, choose];
}

interface SizeChoiceProps {
  readonly size: Size;
  readonly onChoose: (size: Size) => void;
}

/** Small pictures to look over many, large ones to compare them. */
export function SizeChoice({ size, onChoose }: SizeChoiceProps) {
  return (
    <div className="seg p-hide" role="group" aria-label={t('gallery.size')}>
      {(Object.keys(SIZES) as Size[]).map((one) => (
        <button key={one} type="button" aria-pressed={one === size} onClick={() => onChoose(one)}>
          {t(`gallery.size.${one}`)}
        </button>
      ))}
    </div>
  );
}
