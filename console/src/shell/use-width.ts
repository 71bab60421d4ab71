import { useSyncExternalStore } from 'react';

/** Calls back when the window begins or ceases to be of such a width. */
function watchWidth(query: string) {
  const width = matchMedia(query);
  return {
    listen: (listener: () => void) => {
      width.addEventListener('change', listener);
      return () => width.removeEventListener('change', listener);
    },
    matches: () => width.matches,
  };
}

// The breakpoints `sm` and `md` of theme.css.
const narrow = watchWidth('(min-width: 761px) and (max-width: 1024px)');
const phone = watchWidth('(width < 761px)');

/** Whether the navigation is a rail, where names are short. */
export function useIsNarrow(): boolean {
  return useSyncExternalStore(narrow.listen, narrow.matches);
}

/** Whether the navigation is a bar at the bottom: what the others show is not even made there. */
export function useIsPhone(): boolean {
  return useSyncExternalStore(phone.listen, phone.matches);
}
