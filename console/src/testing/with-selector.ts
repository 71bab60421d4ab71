import { useRef, useSyncExternalStore } from 'react';

/**
 * What the router asks of `use-sync-external-store`, for tests: that package loads React itself, past the alias to Preact that
 * the build gives it.
 */
export function useSyncExternalStoreWithSelector<Snapshot, Selection>(
  subscribe: (onChange: () => void) => () => void,
  read: () => Snapshot,
  _readOnServer: unknown,
  select: (snapshot: Snapshot) => Selection,
  isEqual: (one: Selection, other: Selection) => boolean = Object.is,
): Selection {
  const last = useRef<{ readonly selection: Selection } | null>(null);
  return useSyncExternalStore(subscribe, () => {
    const selection = select(read());
    if (last.current === null || !isEqual(last.current.selection, selection)) last.current = { selection };
    return last.current.selection;
  });
}
