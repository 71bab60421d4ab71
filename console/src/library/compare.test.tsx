import { fireEvent, render, screen } from '@testing-library/preact';
import { expect, it } from 'vitest';

import type { MediaPartsFragment } from '../api/documents/operations.ts';
import { Compare, START, zoomed } from './compare.tsx';

const piece = (id: string) => ({
  media: { id, url: `/${id}.png` } as MediaPartsFragment,
  name: `Picture ${id}`,
});
const none = () => undefined;

it('two pictures stand side by side, or one over the other with a line between them', () => {
  render(<Compare pieces={[piece('a'), piece('b')]} onClose={none} />);
  expect(screen.getAllByRole('img', { hidden: true })).toHaveLength(2);
  fireEvent.click(screen.getByText('Wipe between the two'));
  const line = screen.getByRole('slider', { hidden: true });
  fireEvent.change(line, { target: { value: '30' } });
  const upper = screen.getByAltText('Picture a').parentElement;
  expect(upper?.style.clipPath).toBe('inset(0 70% 0 0)');
});

it('three pictures have no line to be drawn across, and all are zoomed together', () => {
  render(<Compare pieces={[piece('a'), piece('b'), piece('c')]} onClose={none} />);
  expect(screen.queryByText('Wipe between the two')).toBeNull();
  fireEvent.click(screen.getByLabelText('Larger'));
  const scales = ['a', 'b', 'c'].map((id) => screen.getByAltText(`Picture ${id}`).style.transform);
  expect(new Set(scales)).toEqual(new Set(['translate(0px, 0px) scale(1.25)']));
});

it('what is in the middle stays there while the zoom changes, and all of it is shown again at the end', () => {
  expect(zoomed({ scale: 2, x: 10, y: -20 }, 2)).toEqual({ scale: 4, x: 20, y: -40 });
  expect(zoomed({ scale: 2, x: 10, y: -20 }, 0.1)).toBe(START);
  expect(zoomed({ scale: 8, x: 0, y: 0 }, 2).scale).toBe(8);
});
