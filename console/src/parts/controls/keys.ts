/** Whether a key belongs to somebody who types, plays, looks at a dialog, or holds a modifier: single keys rest then. */
export function isBusy(event: KeyboardEvent): boolean {
  const { target, metaKey, ctrlKey, altKey, isComposing } = event;
  if (metaKey || ctrlKey || altKey || isComposing) return true;
  return (
    target instanceof HTMLElement &&
    target.closest('input, textarea, select, video, audio, dialog, [role=listbox], [role=radiogroup]') !==
      null
  );
}
