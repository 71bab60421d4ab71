import type { MouseEvent, ReactNode } from 'react';

import { Icon, type IconName } from '../icons.tsx';

/** The classes of what stands on an image, whatever is in it. */
export const onImage =
  'inline-grid h-7 min-w-7 place-items-center rounded-control bg-veil text-12 font-medium text-white';

interface ImageToolProps {
  readonly icon: IconName;
  readonly label: string;
  readonly onClick: () => void;
  readonly className?: string;
}

/** A button with an icon on an image. */
export function ImageTool({ icon, label, onClick, className = '' }: ImageToolProps) {
  return (
    <button
      type="button"
      className={`${onImage} ${className}`}
      onClick={onClick}
      aria-label={label}
      title={label}
    >
      <Icon name={icon} size={14} />
    </button>
  );
}

interface TickProps {
  readonly isOn: boolean;
  readonly label: string;
  readonly title?: string;
  readonly size: number;
  readonly onClick: (event: MouseEvent<HTMLButtonElement>) => void;
  /** Where it is. */
  readonly className: string;
}

/** Selects an image; seen while the pointer is on the image, which is a `group`, and once it is on. */
export function Tick({ isOn, label, title, size, onClick, className }: TickProps) {
  return (
    <button
      type="button"
      className={`absolute grid size-6 place-items-center rounded-full border-2 border-white bg-[rgb(0_0_0/0.55)] text-white opacity-0 group-hover:opacity-100 focus-visible:opacity-100 aria-checked:bg-focus aria-checked:opacity-100 no-hover:opacity-100 [&_svg]:opacity-0 aria-checked:[&_svg]:opacity-100 ${className}`}
      role="checkbox"
      aria-checked={isOn}
      aria-label={label}
      title={title}
      onClick={onClick}
    >
      <Icon name="check" size={size} />
    </button>
  );
}

interface SelectionRegionProps {
  readonly label: string;
  readonly children: ReactNode;
}

/** What can be done with all that is selected, over the foot of the page. */
export function SelectionRegion({ label, children }: SelectionRegionProps) {
  return (
    <div
      className="fixed bottom-16 left-[50%] [z-index:var(--z-nav)] flex max-w-[calc(100vw_-_24px)] [translate:-50%_0] items-center gap-2 rounded-sheet bg-raised px-3 py-2 shadow-[var(--shadow-3)] max-sm:w-[calc(100vw_-_24px)] max-sm:flex-wrap [&_select]:w-auto [&_select]:max-w-50"
      role="region"
      aria-label={label}
    >
      {children}
    </div>
  );
}
