import { render, screen } from '@testing-library/preact';
import { describe, expect, it } from 'vitest';

import { defaultText, type DraftInput, InputsTable, makeDrafts, savedInputs } from './inputs-table.tsx';

describe('the inputs of a graph', () => {
  const input = (more: object = {}) =>
    ({
      name: 'steps',
      type: 'INTEGER',
      at: ['3.steps'],
      required: true,
      description: null,
      default: 20,
      minimum: 1,
      maximum: null,
      multipleOf: null,
      values: null,
      ...more,
    }) as unknown as DraftInput['input'];
  const save = (more: object, change: Partial<DraftInput> = {}) =>
    savedInputs([{ input: input(more), isTaken: true, name: 'steps', value: null, ...change }])[0];

  it('are saved as far as they are taken, under their names', () => {
    const [one] = makeDrafts([input()]);
    if (one === undefined) throw new Error('none');
    expect(one).toEqual({ input: input(), isTaken: true, name: 'steps', value: null });
    expect(savedInputs([one, { ...one, isTaken: false }])).toEqual([
      {
        name: 'steps',
        type: 'INTEGER',
        at: ['3.steps'],
        required: false,
        description: null,
        default: 20,
        minimum: 1,
      },
    ]);
    const bounds = { maximum: 9, multipleOf: 3, values: ['a'], minimum: null, default: null };
    expect(save(bounds, { name: ' n ' })).toEqual({
      name: 'n',
      type: 'INTEGER',
      at: ['3.steps'],
      required: true,
      description: null,
      maximum: 9,
      multipleOf: 3,
      values: ['a'],
    });
  });

  it.each([
    ['INTEGER', '7', 7],
    ['NUMBER', '0.5', 0.5],
    ['NUMBER', 'x', 'x'],
    ['INTEGER', ' ', undefined],
    ['BOOLEAN', 'true', true],
    ['BOOLEAN', 'false', false],
    ['BOOLEAN', 'yes', 'yes'],
    ['TEXT', '', ''],
    ['TEXT', '7', '7'],
  ])('of type %s have as default of %j %j', (type, value, expected) => {
    const saved = save({ type, required: true }, { value });
    expect([saved?.default, saved?.required]).toEqual([expected, expected === undefined]);
  });

  it('are shown with their bounds and defaults, and changed one by one', () => {
    expect([null, undefined, 'a', 1, { b: 1 }].map(defaultText)).toEqual(['', '', 'a', '1', '{"b":1}']);
    let changed: readonly DraftInput[] = [];
    const drafts = makeDrafts([input(), input({ name: 'face', type: 'FILE', minimum: null, maximum: null })]);
    render(<InputsTable inputs={drafts} onChange={(inputs) => (changed = inputs)} />);
    expect(screen.getByText('1 –', { exact: false })).toBeTruthy();
    const [take] = screen.getAllByRole<HTMLInputElement>('checkbox');
    take?.click();
    expect(changed.map(({ isTaken, name }) => [isTaken, name])).toEqual([
      [false, 'steps'],
      [true, 'face'],
    ]);
    expect(screen.getAllByText(/–/)).toHaveLength(1);
    // Two names, and the default of the one that is no file.
    const texts = screen.getAllByRole<HTMLInputElement>('textbox');
    expect(texts.map(({ value, disabled }) => [value, disabled])).toEqual([
      ['steps', false],
      ['20', false],
      ['face', false],
    ]);
  });
});
