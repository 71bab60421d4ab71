import { useEffect } from 'react';

import { isBusy } from '../../parts/controls/keys.ts';

interface RowKeys {
  /** Selects the row whose link has the focus, or takes it out. */
  readonly toggle: (id: string) => void;
  /** Cancels what is selected. */
  readonly cancel: () => void;
}

/** J and K move through the rows, X selects, C cancels the selected; not while somebody types. */
export function useRowKeys({ toggle, cancel }: RowKeys): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (isBusy(event) && !(event.target instanceof HTMLInputElement && event.target.type === 'checkbox'))
        return;
      const rows = [...document.querySelectorAll<HTMLElement>('tr[data-task]')];
      const current = rows.findIndex((row) => row.contains(document.activeElement));
      if (event.key === 'j') focus(rows[current + 1]);
      if (event.key === 'k') focus(rows[Math.max(0, current - 1)]);
      const id = rows[current]?.dataset['task'];
      if (event.key === 'x' && id !== undefined) toggle(id);
      if (event.key === 'c') cancel();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
}

function focus(row: HTMLElement | undefined): void {
  row?.querySelector('a')?.focus();
}
