import { useEffect, useState } from 'react';

const STORAGE_KEY = 'kiln.keys';

/** How this machine's keyboard names the modifier of shortcuts. */
export const MODIFIER = navigator.userAgent.includes('Mac') ? '⌘' : 'Ctrl ';

/** Whether single keys do anything here: whoever speaks to their computer turns them off (WCAG 2.1.4). */
export function hasSingleKeys(): boolean {
  return localStorage.getItem(STORAGE_KEY) !== 'off';
}

/** Turns single keys on or off, and remembers it. */
export function setSingleKeys(isOn: boolean): void {
  localStorage.setItem(STORAGE_KEY, isOn ? 'on' : 'off');
}

/** Whether a key belongs to somebody who types, plays, looks at a dialog, or holds a modifier: single keys rest then. */
export function isBusy(event: KeyboardEvent): boolean {
  const { target, metaKey, ctrlKey, altKey, isComposing } = event;
  if (metaKey || ctrlKey || altKey || isComposing || !hasSingleKeys()) return true;
  // The page has the focus where the button of a dialog that was pressed is gone.
  if (document.querySelector('dialog[open]') !== null) return true;
  return (
    target instanceof HTMLElement &&
    // A dialog that has just closed has the focus until it is gone; what is typed is meant for the page already.
    target.closest('dialog:not([open])') === null &&
    target.closest(
      'input:not([type=checkbox]), textarea, select, video, audio, dialog, [role=listbox], [role=radiogroup]',
    ) !== null
  );
}

/** Characters of a field without a bound: what renders would make a bound of 0 of one that goes with its model. */
export const MOST_TYPED = 1_000_000;

/** The value once it has rested for so long: what is typed is not asked about letter by letter. */
export function useDebounced<T>(value: T, ms: number): T {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return rested;
}
