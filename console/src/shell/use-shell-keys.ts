import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';

import { isBusy } from '../parts/controls/keys.ts';
import { PLACES } from './places.ts';
import { toggleTheme } from './theme.ts';

/** How long the second key of G and a letter is waited for. */
const SECOND_KEY_MS = 1500;

/** What lies over the page: the palette, the list of keys, or nothing. */
export type Over = 'palette' | 'keys' | null;

/**
 * The keys of every page: Ctrl or Cmd and K, G and a letter, N, Shift and D, `?`. They are looked at before those of the
 * page, so that the letter after G moves no row there.
 */
export function useShellKeys(show: (over: Over) => void): void {
  const navigate = useNavigate();
  // Kept over the effect, which may run again between the two keys.
  const goingSince = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const actions: Readonly<Record<string, () => void>> = {
      '?': () => show('keys'),
      n: () => void navigate({ to: '/', search: { kind: 'image' } }),
      D: toggleTheme,
    };
    const actionOf = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && !event.shiftKey && event.key.toLowerCase() === 'k') {
        return document.querySelector('dialog[open]') === null ? () => show('palette') : undefined;
      }
      if (isBusy(event)) return undefined;
      const isSecond = event.timeStamp - goingSince.current < SECOND_KEY_MS;
      goingSince.current = Number.NEGATIVE_INFINITY;
      const place = isSecond ? PLACES.find(({ letter }) => letter === event.key) : undefined;
      if (place !== undefined) return () => void navigate({ to: place.to });
      if (event.key !== 'g') return actions[event.key];
      return () => {
        goingSince.current = event.timeStamp;
      };
    };
    const onKey = (event: KeyboardEvent) => {
      const action = event.repeat ? undefined : actionOf(event);
      if (action === undefined) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      action();
    };
    addEventListener('keydown', onKey, { capture: true });
    return () => removeEventListener('keydown', onKey, { capture: true });
  }, [navigate, show]);
}
