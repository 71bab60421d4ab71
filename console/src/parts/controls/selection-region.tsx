import type { ReactNode } from 'react';

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
