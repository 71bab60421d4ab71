import { useNavigate } from '@tanstack/react-router';
import { useEffect, useState } from 'react';

import { isBusy } from '../parts/controls/typing.ts';
import { PLACES } from './places.ts';
import { toggleTheme } from './theme.ts';

/** Pressed on the way to another key. */
const MODIFIERS: ReadonlySet<string> = new Set(['Shift', 'Control', 'Alt', 'Meta']);

/** What lies over the page: the palette, the list of keys, or nothing. */
export type Over = 'palette' | 'keys' | null;

/**
 * The keys of every page: Ctrl or Cmd and K, G and a letter, N, Shift and D, `?`. They are looked at before those of the
 * page, so that the letter after G moves no row there. Answers whether G waits for its letter, which it does for as long as
 * somebody takes: any other key or a click ends it.
 */
export function useShellKeys(over: Over, show: (over: Over) => void): boolean {
  const navigate = useNavigate();
  const [isGoing, setGoing] = useState(false);
  useEffect(() => {
    const actions: Readonly<Record<string, () => void>> = {
      '?': () => show('keys'),
      n: () => void navigate({ to: '/', search: { kind: 'image' } }),
      D: toggleTheme,
    };
    // Beside the state: the letter may come before the page is drawn anew.
    let isWaiting = false;
    const wait = (next: boolean) => {
      isWaiting = next;
      setGoing(next);
    };
    const findAction = (event: KeyboardEvent) => {
      const isSecond = isWaiting;
      if (isSecond && !MODIFIERS.has(event.key)) wait(false);
      const hasDialog = document.querySelector('dialog[open]') !== null;
      if ((event.metaKey || event.ctrlKey) && !event.shiftKey && event.key.toLowerCase() === 'k') {
        return hasDialog || over === 'palette' ? undefined : openPalette;
      }
      // What could not be loaded has no dialog that takes it.
      if (event.key === 'Escape' && over !== null && !hasDialog) return () => show(null);
      if (isBusy(event)) return undefined;
      const place = isSecond ? PLACES.find(({ letter }) => letter === event.key) : undefined;
      if (place !== undefined) return () => void navigate({ to: place.to });
      return event.key === 'g' ? () => wait(true) : actions[event.key];
    };
    const openPalette = () => {
      startTypingAhead();
      show('palette');
    };
    const onKey = (event: KeyboardEvent) => {
      if (typeAhead(event)) {
        event.preventDefault();
        event.stopImmediatePropagation();
        if (event.key === 'Escape') show(null);
        return;
      }
      const action = event.repeat ? undefined : findAction(event);
      if (action === undefined) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      action();
    };
    const end = () => wait(false);
    addEventListener('keydown', onKey, { capture: true });
    addEventListener('pointerdown', end, { capture: true });
    addEventListener('blur', end);
    return () => {
      removeEventListener('keydown', onKey, { capture: true });
      removeEventListener('pointerdown', end, { capture: true });
      removeEventListener('blur', end);
    };
  }, [navigate, over, show]);
  return isGoing;
}

/** What is typed between the key that opens the palette and its field: it belongs there, and not to the page below. */

let typed: string | null = null;

/** From here on keys are kept. */
function startTypingAhead(): void {
  typed = '';
}

/** Keeps a key; answers whether it was one to keep. */
function typeAhead({ key, metaKey, ctrlKey, altKey }: KeyboardEvent): boolean {
  if (typed === null) return false;
  if (key === 'Escape') typed = null;
  else if (key === 'Backspace') typed = typed.slice(0, -1);
  else if (key.length === 1 && !metaKey && !ctrlKey && !altKey) typed += key;
  return true;
}

/** What was typed meanwhile; null when it was given up with Escape. */
export function takeTyped(): string | null {
  const text = typed;
  typed = null;
  return text;
}
