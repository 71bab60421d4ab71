import { useId } from 'react';

import { t } from '../../text/text.ts';
import { Field, Input, Label } from '../looks/inputs.tsx';

interface BoundFieldProps {
  readonly label: string;
  /** What it is counted in: whole numbers, or any. */
  readonly step: number | 'any';
  /** As it is typed; empty: no bound. */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** The field of one bound of a budget. */
export function BoundField({ label, step, value, onChange }: BoundFieldProps) {
  const id = useId();
  return (
    <Field>
      <Label htmlFor={id}>{label}</Label>
      <Input
        id={id}
        type="number"
        min={0}
        step={step}
        placeholder={t('budget.unbounded')}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    </Field>
  );
}
