import type { DragEvent } from 'react';

/** Files of the gallery while they are dragged onto a board. */

const TYPE = 'application/x-kiln-files';

/** Gives a drag the ids of what is dragged. */
export function drag(event: DragEvent, ids: readonly string[]): void {
  event.dataTransfer.setData(TYPE, JSON.stringify(ids));
  event.dataTransfer.effectAllowed = 'copyMove';
}

/** Whether what is dragged are files of the gallery. */
export function isDragged({ dataTransfer }: DragEvent): boolean {
  return dataTransfer.types.includes(TYPE);
}

/** The ids of what was dropped; none when it is something else. */
export function draggedIds({ dataTransfer }: DragEvent): readonly string[] {
  const text = dataTransfer.getData(TYPE);
  return text === '' ? [] : (JSON.parse(text) as readonly string[]);
}
