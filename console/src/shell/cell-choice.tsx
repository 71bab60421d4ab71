import { useEffect, useState } from 'react';

import { chooseCell, type KnownCells, listCells, useCell } from '../api/cell.ts';
import { useSeesAll } from '../api/use-caller.ts';
import { t } from '../text/text.ts';

/** Where administrators choose which cell the console shows; nothing where there is only one. */
export function CellChoice() {
  const seesAll = useSeesAll();
  const chosen = useCell();
  const [known, setKnown] = useState<KnownCells | null>(null);
  useEffect(() => {
    // Without an answer there is no choice, and the cell of this address stays.
    if (seesAll) listCells().then(setKnown, () => undefined);
  }, [seesAll]);
  if (known === null || known.cells.length < 2) return null;
  return (
    <select
      className="input"
      aria-label={t('shell.cell')}
      value={chosen ?? known.own}
      onChange={({ target }) => {
        const cell = Number(target.value);
        chooseCell(cell === known.own ? null : cell);
      }}
    >
      {known.cells.map(({ number, ready }) => (
        <option key={number} value={number}>
          {ready ? t('shell.cellOf', { cell: number }) : t('shell.cellAway', { cell: number })}
        </option>
      ))}
    </select>
  );
}
