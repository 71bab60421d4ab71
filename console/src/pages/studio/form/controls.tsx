import { type CSSProperties, type ReactNode, useId } from 'react';

import { MOST_TYPED } from '../../../parts/controls/typing.ts';
import { Icon } from '../../../parts/icons.tsx';
import { Field, Help, Input, Label, labelLook, Select, TextArea } from '../../../parts/looks/inputs.tsx';
import { Figures, Row } from '../../../parts/looks/lines.tsx';
import { ServerWords } from '../../../parts/problem.tsx';
import { t, textOr } from '../../../text/text.ts';
import { toText } from '../../../work/work.ts';

/** The controls of the Studio's forms. Each has a label, and says below what is wrong with it. */
interface ControlProps {
  readonly id: string;
  readonly label: string;
  readonly problem: string | undefined;
  readonly onChange: (value: unknown) => void;
}

function Labelled({
  id,
  label,
  problem,
  note,
  children,
}: Omit<ControlProps, 'onChange'> & { readonly note?: string; readonly children: ReactNode }) {
  return (
    <Field>
      <Label htmlFor={id}>
        {label}
        {note !== undefined && (
          <Figures tone="faint" className="font-normal ml-auto">
            {note}
          </Figures>
        )}
      </Label>
      {children}
      <FieldProblem id={id} problem={problem} />
    </Field>
  );
}

function FieldProblem({ id, problem }: { readonly id: string; readonly problem: string | undefined }) {
  if (problem === undefined) return null;
  return (
    <Help bad id={`${id}-problem`} role="alert">
      <ServerWords text={problem} />
    </Help>
  );
}

function aria(id: string, problem: string | undefined) {
  return problem === undefined ? {} : { 'aria-invalid': true, 'aria-describedby': `${id}-problem` };
}

/** Words of several lines, with how many characters of how many. */
export function TextAreaField(
  props: ControlProps & { readonly value: string; readonly most: number | null },
) {
  const { id, value, most, problem, onChange } = props;
  const note = most === null ? undefined : `${value.length.toLocaleString()} / ${most.toLocaleString()}`;
  return (
    <Labelled {...props} {...(note === undefined ? {} : { note })}>
      <TextArea
        id={id}
        value={value}
        maxLength={most ?? MOST_TYPED}
        onChange={({ target }) => onChange(target.value)}
        {...aria(id, problem)}
      />
    </Labelled>
  );
}

/** Words of one line. */
export function TextField(props: ControlProps & { readonly value: string; readonly note?: string }) {
  const { id, value, problem, onChange } = props;
  return (
    <Labelled note={t('field.optional')} {...props}>
      <Input id={id} value={value} onChange={({ target }) => onChange(target.value)} {...aria(id, problem)} />
    </Labelled>
  );
}

/** A number; empty leaves it to the model. */
export function NumberField(
  props: ControlProps & {
    readonly value: unknown;
    readonly range: readonly [number, number] | null;
    readonly step?: number | 'any';
  },
) {
  const { id, value, range, problem, onChange } = props;
  const note = range === null ? t('field.optional') : t('field.range', { from: range[0], to: range[1] });
  return (
    <Labelled {...props} note={note}>
      <Input
        id={id}
        type="number"
        step={props.step ?? 'any'}
        min={range?.[0]}
        max={range?.[1]}
        value={typeof value === 'number' ? value : ''}
        onChange={({ target }) => onChange(target.value === '' ? null : target.valueAsNumber)}
        {...aria(id, problem)}
      />
    </Labelled>
  );
}

/** One of the model's values, or its own default. */
export function ChoiceField(
  props: ControlProps & {
    readonly value: unknown;
    readonly values: readonly (string | number)[];
    readonly isSeconds?: boolean;
  },
) {
  const { id, value, values, isSeconds = false, problem, onChange } = props;
  if (values.length === 0) return null;
  return (
    <Labelled {...props}>
      <Select
        id={id}
        value={values.some((one) => one === value) ? toText(value) : ''}
        onChange={({ target }) => onChange(values.find((one) => String(one) === target.value) ?? null)}
        {...aria(id, problem)}
        empty={t('field.default')}
        options={values.map((one) => [
          String(one),
          isSeconds ? t('time.seconds', { seconds: one }) : textOr(`value.${one}`, String(one)),
        ])}
      />
    </Labelled>
  );
}

/** The shape of the image, drawn. */
export function ShapeField({
  label,
  problem,
  value,
  shapes,
  onChange,
}: ControlProps & { readonly value: string | undefined; readonly shapes: readonly string[] }) {
  const id = useId();
  return (
    <Field>
      <span className={labelLook} id={id}>
        {label}
      </span>
      <div className="grid grid-cols-[repeat(5,1fr)] gap-1" role="radiogroup" aria-labelledby={id}>
        {shapes.map((shape) => (
          <label
            key={shape}
            className="relative h-13 rounded-control border border-line flex flex-col items-center justify-end gap-1.25 pb-1 text-11 font-normal text-muted tabular-nums bg-surface hover:bg-hover has-checked:bg-select has-checked:border-select-line has-checked:text-text has-checked:font-medium"
          >
            <input
              type="radio"
              name={id}
              value={shape}
              className="absolute inset-0 m-0 cursor-pointer appearance-none rounded-control"
              checked={shape === value}
              onChange={() => onChange(shape)}
            />
            <i className="rounded-[2px] border-[1.5px] border-current" style={toBox(shape)} />
            {shape}
          </label>
        ))}
      </div>
      <FieldProblem id={id} problem={problem} />
    </Field>
  );
}

const BOX = 20;

function toBox(shape: string): CSSProperties {
  const [width = 1, height = 1] = shape.split(':').map(Number);
  const scale = BOX / Math.max(width, height);
  return { width: Math.max(8, width * scale), height: Math.max(8, height * scale) };
}

const STEP = 'grid h-7.5 w-8 place-items-center text-muted hover:bg-hover max-sm:size-10';

/** A small count between one and the most. */
export function StepperField({
  label,
  value,
  most,
  onChange,
}: {
  readonly label: string;
  readonly value: number;
  readonly most: number;
  readonly onChange: (value: number) => void;
}) {
  const id = useId();
  return (
    <Row>
      <span className={`${labelLook} flex-1 min-w-0`} id={id}>
        {label}
      </span>
      <div
        className="inline-flex overflow-hidden rounded-control border border-line-strong"
        role="group"
        aria-labelledby={id}
      >
        <button
          type="button"
          className={STEP}
          aria-label={t('field.fewer')}
          disabled={value <= 1}
          onClick={() => onChange(value - 1)}
        >
          <Icon name="minus" size={14} />
        </button>
        <output className="grid min-w-9 place-items-center border-x border-line font-medium tabular-nums">
          {value}
        </output>
        <button
          type="button"
          className={STEP}
          aria-label={t('field.more')}
          disabled={value >= most}
          onClick={() => onChange(value + 1)}
        >
          <Icon name="plus" size={14} />
        </button>
      </div>
    </Row>
  );
}
