import { useState } from 'react';

import { SelectField } from '../../../parts/controls/fields.tsx';
import { Button } from '../../../parts/looks/button.tsx';
import { Chip, Input, TextArea } from '../../../parts/looks/inputs.tsx';
import { moneyText } from '../../../parts/money.ts';
import { t, textOr } from '../../../text/text.ts';
import { listMissing } from '../../../work/work.ts';
import { useEstimate } from '../form/estimate.tsx';
import {
  type Axis,
  listAxes,
  MOST_CELLS,
  MOST_VALUES,
  sheetRuns,
  parseValues,
  type SeveralProps,
} from './axes.ts';

/** What is wanted of one axis: its name, and its values as text. */
interface Wanted {
  readonly name: string;
  readonly values: readonly unknown[];
}

const NOTHING: Wanted = { name: '', values: [] };
/** Values of a choice that are taken at first. */
const FIRST = 3;

/** Chooses one or two options and the values of each; says how many results that makes, and what they cost. */
export function OptionsTab({ choice, values, onRun }: SeveralProps) {
  const axes = listAxes(choice, values);
  const [x, setX] = useState<Wanted>(() => chooseValues(axes.find(({ name }) => name === 'seed') ?? axes[0]));
  const [y, setY] = useState<Wanted>(NOTHING);
  const { total, currency } = useEstimate(choice, { ...values, count: 1 }, 1);
  const makeSeries = ({ name, values: own }: Wanted) => {
    const axis = axes.find((one) => one.name === name);
    return axis === undefined || own.length === 0 ? null : { axis, values: own };
  };
  const columns = makeSeries(x);
  const rows = makeSeries(y);
  const count = columns === null ? 0 : columns.values.length * (rows?.values.length ?? 1);
  const varied = [x.name, y.name];
  const missing = listMissing(choice, values).filter((member) => !varied.includes(member));
  return (
    <>
      <p className="text-muted">{t('several.optionsText')}</p>
      <AxisField
        label={t('several.across')}
        axes={axes.filter(({ name }) => name !== y.name)}
        wanted={x}
        onChange={setX}
      />
      <AxisField
        label={t('several.down')}
        axes={axes.filter(({ name }) => name !== x.name)}
        wanted={y}
        onChange={setY}
        mayBeNone
      />
      <p
        className={`text-12 font-normal ${count > MOST_CELLS ? 'flex gap-1.5 text-failed' : 'text-muted'}`}
        role="status"
      >
        {count > MOST_CELLS
          ? t('several.tooMany', { count, most: MOST_CELLS })
          : [
              t('several.results', { count }),
              ...(typeof total === 'number' && !choice.model.sandbox
                ? [moneyText({ amount: total * count, currency })]
                : []),
            ].join(' · ')}
      </p>
      <Button
        kind="primary"
        size="large"
        disabled={columns === null || count < 2 || count > MOST_CELLS || missing.length > 0}
        onClick={() =>
          columns !== null && onRun(sheetRuns({ choice, values }, columns, rows, crypto.randomUUID()))
        }
      >
        {t('several.runOptions', { count })}
      </Button>
    </>
  );
}

function chooseValues(axis: Axis | undefined): Wanted {
  if (axis === undefined) return NOTHING;
  return { name: axis.name, values: axis.kind === 'choice' ? axis.values.slice(0, FIRST) : axis.values };
}

interface AxisFieldProps {
  readonly label: string;
  readonly axes: readonly Axis[];
  readonly wanted: Wanted;
  readonly onChange: (wanted: Wanted) => void;
  readonly mayBeNone?: boolean;
}

function AxisField({ label, axes, wanted, onChange, mayBeNone = false }: AxisFieldProps) {
  const axis = axes.find(({ name }) => name === wanted.name);
  return (
    <SelectField
      label={label}
      value={wanted.name}
      onChange={({ target }) => onChange(chooseValues(axes.find(({ name }) => name === target.value)))}
      empty={mayBeNone ? t('several.nothing') : undefined}
      options={axes.map((one) => [one.name, one.label])}
    >
      {axis !== undefined && (
        <AxisValues
          key={axis.name}
          axis={axis}
          values={wanted.values}
          onChange={(values) => onChange({ name: axis.name, values })}
        />
      )}
    </SelectField>
  );
}

interface AxisValuesProps {
  readonly axis: Axis;
  readonly values: readonly unknown[];
  readonly onChange: (values: readonly unknown[]) => void;
}

/** Chips for a choice; numbers by commas; texts one a line. */
function AxisValues({ axis, values, onChange }: AxisValuesProps) {
  const [text, setText] = useState(() => values.map(String).join(axis.kind === 'lines' ? '\n' : ', '));
  if (axis.kind === 'choice') {
    return (
      <div className="gap-1 flex items-center min-w-0 flex-wrap" role="group" aria-label={axis.label}>
        {axis.values.map((value) => {
          const isOn = values.includes(value);
          return (
            <Chip
              key={String(value)}
              aria-pressed={isOn}
              disabled={!isOn && values.length >= MOST_VALUES}
              onClick={() =>
                onChange(axis.values.filter((one) => (one === value ? !isOn : values.includes(one))))
              }
            >
              {textOr(`value.${String(value)}`, String(value))}
            </Chip>
          );
        })}
      </div>
    );
  }
  const change = (next: string) => {
    setText(next);
    onChange(parseValues(axis.kind, next));
  };
  return axis.kind === 'lines' ? (
    <TextArea
      aria-label={t('several.lines')}
      placeholder={t('several.lines')}
      value={text}
      onChange={({ target }) => change(target.value)}
    />
  ) : (
    <Input
      aria-label={t('several.numbers')}
      placeholder={t('several.numbers')}
      value={text}
      onChange={({ target }) => change(target.value)}
    />
  );
}
