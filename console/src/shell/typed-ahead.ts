/** What is typed between the key that opens the palette and its field: it belongs there, and not to the page below. */

let typed: string | null = null;

/** From here on keys are kept. */
export function startTypingAhead(): void {
  typed = '';
}

/** Keeps a key; answers whether it was one to keep. */
export function typeAhead({ key, metaKey, ctrlKey, altKey }: KeyboardEvent): boolean {
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
