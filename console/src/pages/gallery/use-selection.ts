import { useCallback, useMemo, useRef, useState } from 'react';

import type { Piece } from '../../library/use-pieces.ts';

/** Which pieces are ticked; with a range from the last one that was. */
export function useSelection(pieces: readonly Piece[]) {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  const last = useRef<string | null>(null);
  const toggle = useCallback(
    (id: string, isRange: boolean) => {
      const anchor = last.current;
      last.current = id;
      setIds((before) => {
        if (isRange && anchor !== null) return new Set([...before, ...between(pieces, anchor, id)]);
        const next = new Set(before);
        if (!next.delete(id)) next.add(id);
        return next;
      });
    },
    [pieces],
  );
  const selected = useMemo(() => pieces.filter(({ media }) => ids.has(media.id)), [pieces, ids]);
  return { ids, pieces: selected, toggle, clear: () => setIds(new Set()) };
}

function between(pieces: readonly Piece[], one: string, other: string): readonly string[] {
  const all = pieces.map(({ media }) => media.id);
  const [from = 0, to = 0] = [all.indexOf(one), all.indexOf(other)].toSorted((a, b) => a - b);
  return all.slice(Math.max(0, from), to + 1);
}
