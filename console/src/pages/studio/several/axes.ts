import { textOr } from '../../../text/text.ts';
import type { Run, Varied } from '../../../work/batches.ts';
import { COMMON_RATIOS, SPEED_MODES } from '../../../work/kinds.ts';
import { type OptionField, listLeaves, withOption } from '../../../work/options/fields.ts';
import { type Choice, listMembers, optionFields, toText, type Values } from '../../../work/work.ts';

/** What the dialog and its tabs are given. */
export interface SeveralProps {
  /** The models of this kind of work. */
  readonly choices: readonly Choice[];
  readonly choice: Choice;
  readonly values: Values;
  readonly onRun: (runs: readonly Run[]) => void;
}

/** What of a form can be varied over a sheet, and the submissions that makes. Pure. */

/** One thing that can be varied. */
export interface Axis {
  /** A member of the form, or the path of an option below `options.`. */
  readonly name: string;
  readonly label: string;
  readonly kind: 'choice' | 'numbers' | 'lines';
  /** All values of a choice, else those that are suggested. */
  readonly values: readonly unknown[];
}

/** An axis with the values that are wanted of it. */
export interface Series {
  readonly axis: Axis;
  readonly values: readonly unknown[];
}

/** Most values of one axis, and submissions of one sheet. */
export const MOST_VALUES = 8;
export const MOST_CELLS = 16;

/** Everything that can be varied of what a form shows. */
export function listAxes(choice: Choice, values: Values): readonly Axis[] {
  const { first, more } = optionFields(choice);
  return [
    ...listMembers(choice).flatMap((member) => memberAxis(choice, member, values)),
    ...listLeaves([...first, ...more]).flatMap(optionAxis),
  ];
}

function memberAxis({ model }: Choice, member: string, values: Values): readonly Axis[] {
  const base = { name: member, label: textOr(`field.${member}`, member) };
  const choices: Readonly<Record<string, readonly unknown[]>> = {
    aspectRatio: model.aspectRatios ?? COMMON_RATIOS,
    resolution: model.sizes ?? [],
    duration: model.durations ?? [],
    format: model.formats ?? [],
    speedMode: SPEED_MODES,
  };
  const offered = choices[member];
  if (offered !== undefined) return offered.length < 2 ? [] : [{ ...base, kind: 'choice', values: offered }];
  if (member === 'prompt' || member === 'text' || member === 'negativePrompt')
    return [{ ...base, kind: 'lines', values: [toText(values[member])].filter((one) => one !== '') }];
  if (member === 'seed') return [{ ...base, kind: 'numbers', values: [1, 2, 3, 4] }];
  if (member === 'speed' || member === 'pitch' || member === 'volume')
    return [{ ...base, kind: 'numbers', values: [] }];
  return [];
}

function optionAxis({ path, title, control }: OptionField): readonly Axis[] {
  const name = ['options', ...path].join('.');
  const label = title ?? textOr(`option.${path.at(-1) ?? ''}`, path.join('.'));
  switch (control.kind) {
    case 'choice':
      return control.values.length < 2 ? [] : [{ name, label, kind: 'choice', values: control.values }];
    case 'switch':
      return [{ name, label, kind: 'choice', values: [true, false] }];
    case 'range':
      return [{ name, label, kind: 'numbers', values: [control.least, control.most] }];
    case 'number':
      return [{ name, label, kind: 'numbers', values: [] }];
    case 'text':
      return [{ name, label, kind: 'lines', values: [] }];
    default:
      return [];
  }
}

/** The values that somebody has written: numbers by commas, ranges such as 1-4 among them; else one a line. */
export function parseValues(kind: Axis['kind'], text: string): readonly unknown[] {
  if (kind === 'lines')
    return distinct(
      text
        .split('\n')
        .map((line) => line.trim())
        .filter((line) => line !== ''),
    );
  const numbers = text.split(/[,，\s]+/).flatMap((part): readonly number[] => {
    const range = /^(\d+)-(\d+)$/.exec(part);
    if (range === null) return part === '' || Number.isNaN(Number(part)) ? [] : [Number(part)];
    const from = Number(range[1]);
    const count = Math.min(MOST_VALUES, Number(range[2]) - from + 1);
    return count < 1 ? [] : Array.from({ length: count }, (_, index) => from + index);
  });
  return distinct(numbers);
}

function distinct(values: readonly unknown[]): readonly unknown[] {
  return [...new Set(values)].slice(0, MOST_VALUES);
}

/** The form with another value of an axis. */
function withValue(values: Values, { name, value }: Varied): Values {
  if (!name.startsWith('options.')) return { ...values, [name]: value };
  return { ...values, options: withOption(values['options'], name.split('.').slice(1), value) };
}

/** The submissions of a sheet, row by row; one result each. */
export function sheetRuns(
  { choice, values }: Pick<Run, 'choice' | 'values'>,
  x: Series,
  y: Series | null,
  sheet: string,
): readonly Run[] {
  const columns = x.values.map((value) => ({ name: x.axis.name, value }));
  const rows = y === null ? [undefined] : y.values.map((value) => ({ name: y.axis.name, value }));
  return rows.flatMap((row) =>
    columns.map((column): Run => {
      const own = withValue({ ...values, count: 1 }, column);
      return {
        choice,
        values: row === undefined ? own : withValue(own, row),
        cell: { sheet, x: column, ...(row === undefined ? {} : { y: row }) },
      };
    }),
  );
}

/** The same form on several models; one result each. */
export function modelRuns(choices: readonly Choice[], values: Values, sheet: string): readonly Run[] {
  return choices.map((choice) => ({
    choice,
    values: { ...values, count: 1 },
    cell: { sheet, x: { name: 'model', value: choice.key } },
  }));
}
