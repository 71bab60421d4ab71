import { fireEvent, render, screen, waitFor } from '@testing-library/preact';
import { expect, it, vi } from 'vitest';

import type { MediaPartsFragment } from '../../api/documents/operations.ts';
import type { Piece } from '../../library/piece.tsx';
import type { Boards } from './boards/use-boards.ts';
import { SelectionBar } from './selection-bar.tsx';

const piece = (id: string, contentType = 'image/png'): Piece => ({
  media: { id, contentType, url: `/${id}`, name: `Name of ${id}` } as MediaPartsFragment,
  task: null,
});

/** What a visitor has ticked, who may neither delete nor sort. */
function show(pieces: readonly Piece[]) {
  const onClear = vi.fn<() => void>();
  const none = () => undefined;
  render(
    <SelectionBar
      pieces={pieces}
      boards={{} as Boards}
      board={undefined}
      onPut={async () => undefined}
      onLeft={none}
      onClear={onClear}
      onDeleted={none}
    />,
  );
  return { onClear, compare: () => screen.queryByRole('button', { name: 'Compare' }) };
}

it('says how many are ticked, and opens nothing by itself', () => {
  const { onClear } = show([piece('a'), piece('b'), piece('c', 'video/mp4')]);
  expect(screen.getByRole('status').textContent).toBe('3 selected');
  expect(screen.queryByRole('dialog', { hidden: true })).toBeNull();
  expect(screen.queryByRole('button', { name: 'Delete' })).toBeNull();
  fireEvent.click(screen.getByRole('button', { name: 'Clear' }));
  expect(onClear).toHaveBeenCalledOnce();
});

it('compares two to four images, whatever else is ticked', async () => {
  for (const count of [1, 5]) {
    const { compare } = show(Array.from({ length: count }, (_, at) => piece(`${count}-${at}`)));
    expect(compare()).toBeNull();
  }
  const { compare } = show([piece('a'), piece('b'), piece('c', 'audio/wav')]);
  const button = compare();
  if (button === null) throw new Error('two images can be compared');
  fireEvent.click(button);
  expect(await screen.findAllByAltText(/^Name of [ab]$/)).toHaveLength(2);
});

it('says why files could not be saved, and lets nobody press twice meanwhile', async () => {
  let answer: (why: Error) => void = () => undefined;
  vi.stubGlobal('fetch', () => new Promise((_, reject) => (answer = reject)));
  show([piece('a'), piece('b')]);
  const button = screen.getByRole<HTMLButtonElement>('button', { name: 'Download' });
  fireEvent.click(button);
  await waitFor(() => expect(button.disabled).toBe(true));
  await waitFor(() => {
    answer(new Error('the disk is full'));
    expect(screen.getByRole('status').textContent).toContain('the disk is full');
  });
  await waitFor(() => expect(button.disabled).toBe(false));
  fireEvent.click(button);
  await waitFor(() => expect(screen.getByRole('status').textContent).toBe('2 selected'));
  vi.unstubAllGlobals();
});
