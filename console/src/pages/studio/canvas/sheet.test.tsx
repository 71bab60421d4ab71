import { fireEvent, screen, waitFor } from '@testing-library/preact';
import { afterEach, expect, it } from 'vitest';

import { outline } from '../../../testing/outline.ts';
import { large, openResults, shots } from '../../../testing/results.ts';
import { aBatch, aTask, keepBatches, readTexts } from '../../../testing/studio.ts';
import { press } from '../../../testing/use.ts';
import { closeConsole } from '../../../testing/whole-console.tsx';
import type { Cell } from '../../../work/batches.ts';
import { readDraft } from '../../../work/keeper.ts';

afterEach(closeConsole);

const cell = (x: unknown, y?: unknown, name = 'seed'): Cell => ({
  sheet: 's',
  x: { name, value: x },
  ...(y === undefined ? {} : { y: { name: 'options.quality', value: y } }),
});

it('lays a sheet of models out side by side, opens one of them and goes back', async () => {
  await openResults([
    aBatch('image', { cell: cell('a', undefined, 'model') }),
    aBatch('sound', { modelName: 'Model small', cell: cell('b', undefined, 'model') }),
    aBatch('running', { cell: cell('c', undefined, 'model') }),
    aBatch('failed', { cell: cell('d', undefined, 'model') }),
    aBatch('gone', { cell: cell('e', undefined, 'model') }),
    aBatch('video'),
  ]);
  await waitFor(() => expect(document.querySelectorAll('[data-sheet] [data-tile]')).toHaveLength(2));
  await waitFor(() => expect(document.querySelectorAll('[data-shot=done]')).toHaveLength(3));
  await expect(outline(document.querySelector('[data-results]'))).toMatchFileSnapshot(
    'outlines/sheet-of-models.txt',
  );
  expect(shots().map((shot) => shot.getAttribute('aria-current'))).not.toContain('true');
  await press('Show large: Model small');
  expect(readTexts('[data-results] h2')).toEqual(['a lake, sound']);
  await press('Back to the sheet');
  await waitFor(() => expect(document.querySelector('[data-sheet]')).not.toBeNull());
  await press('Remix');
  expect(readDraft('image')?.values).toEqual({ prompt: 'a lake, image' });
  await press('Remove from this page');
  await waitFor(() => expect(readTexts('[data-results] h2')).toEqual(['a lake, video']));
});

it('lays a sheet of two options out as a table, and compares its first images', async () => {
  const places = [
    [1, 'low'],
    [2, 'low'],
    [2, 'high'],
    ['16:9', 'high'],
    [1, 'high'],
  ] as const;
  await openResults(
    places.map(([x, y], at) =>
      aBatch(`b${at}`, { values: { prompt: 'a lake', aspectRatio: '16:9' }, cell: cell(x, y) }),
    ),
    { task: ({ id }: { readonly id: string }) => aTask(id) },
  );
  await waitFor(() => expect(document.querySelectorAll('[data-sheet] img')).toHaveLength(5));
  await expect(outline(large())).toMatchFileSnapshot('outlines/sheet-of-options.txt');
  fireEvent.click(screen.getByRole('button', { name: 'Compare' }));
  expect((await screen.findByRole('region', { name: 'Compare' })).textContent).toContain('4 selected');
  const ticked = screen.getAllByRole('checkbox').map((one) => one.getAttribute('aria-checked'));
  expect(ticked).toEqual(['true', 'true', 'true', 'true', 'false']);
});

it('brings a new sheet to the front, and offers no comparison of one image', async () => {
  await openResults([aBatch('video')]);
  await waitFor(() => expect(readTexts('[data-results] h2')).toEqual(['a lake, video']));
  keepBatches([aBatch('image', { cell: cell(1) }), aBatch('sound', { cell: cell(2) }), aBatch('video')]);
  await waitFor(() => expect(readTexts('thead th')).toEqual(['Seed 1', 'Seed 2']));
  expect(screen.queryByRole('button', { name: 'Compare' })).toBeNull();
  keepBatches([
    aBatch('words'),
    aBatch('image', { cell: cell(1) }),
    aBatch('sound', { cell: cell(2) }),
    aBatch('video'),
  ]);
  await waitFor(() => expect(readTexts('[data-results] h2')).toEqual(['a lake, words']));
});
