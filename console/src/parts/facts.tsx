import type { ReactNode } from 'react';

import { CopyButton } from './copy-button.tsx';

/** One line of a list of facts. */
export function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </>
  );
}

/** An id in one line, to be copied with a click. */
export function Id({ text }: { readonly text: string }) {
  return (
    <span className="id-row flex justify-end items-center gap-1 min-w-0">
      <span className="truncate font-mono [font-size:12px] min-w-0" title={text}>
        {text}
      </span>
      <CopyButton text={text} />
    </span>
  );
}
