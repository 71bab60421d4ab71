import { useEffect, useState } from 'react';

import { chooseCell, serverUrl, useCell } from '../api/addresses.ts';
import { useSeesAll } from '../api/caller.ts';
import { freshAuthorization } from '../api/session.ts';
import { Select } from '../parts/looks/inputs.tsx';
import { t } from '../text/text.ts';

/** All cells of an installation; none where there is only one. */
interface KnownCells {
  /** The cell of this address. */
  readonly own: number;
  readonly cells: readonly { readonly number: number; readonly ready: boolean }[];
}

/** Where administrators choose which cell the console shows; nothing where there is only one. */
export function CellChoice() {
  const seesAll = useSeesAll();
  const chosen = useCell();
  const [known, setKnown] = useState<KnownCells | null>(null);
  useEffect(() => {
    // Without an answer there is no choice, and the cell of this address stays.
    if (seesAll) listCells().then(setKnown, () => undefined);
  }, [seesAll]);
  // Whoever comes next may not know of them.
  if (!seesAll || known === null || known.cells.length < 2) return null;
  return (
    <Select
      aria-label={t('shell.cell')}
      value={String(chosen ?? known.own)}
      onChange={({ target }) => {
        const cell = Number(target.value);
        chooseCell(cell === known.own ? null : cell);
      }}
      options={known.cells.map(({ number, ready }) => [
        number,
        ready ? t('shell.cellOf', { cell: number }) : t('shell.cellAway', { cell: number }),
      ])}
    />
  );
}

/** Asks for all cells, for administrators. Rejects when the server does not answer. */
async function listCells(): Promise<KnownCells> {
  const authorization = await freshAuthorization();
  const answer = await fetch(new URL('cells', serverUrl), {
    headers: authorization === null ? {} : { authorization },
  });
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  return (await answer.json()) as KnownCells;
}
