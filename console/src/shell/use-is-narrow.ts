import { useSyncExternalStore } from 'react';

/** The rail of the navigation, as screens.css has it. */
const narrow = matchMedia('(min-width: 761px) and (max-width: 1024px)');

/** Whether the navigation is a rail, where names are short. */
export function useIsNarrow(): boolean {
  return useSyncExternalStore(
    (listener) => {
      narrow.addEventListener('change', listener);
      return () => narrow.removeEventListener('change', listener);
    },
    () => narrow.matches,
  );
}
