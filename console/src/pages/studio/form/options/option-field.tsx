import { useId } from 'react';

import { type Control, fits } from '../../../../work/options/control.ts';
import type { OptionField as Field } from '../../../../work/options/fields.ts';
import { optionAt, valueOf, withOption } from '../../../../work/options/values.ts';
import { ChoiceOption } from './choice-option.tsx';
import { JsonOption } from './json-option.tsx';
import { NumberOption } from './number-option.tsx';
import { Name, type OptionProps } from './option-frame.tsx';
import { nameOf } from './option-words.ts';
import { SwitchOption } from './switch-option.tsx';
import { LinesOption, TextOption } from './text-option.tsx';

/** Options of fields that set options. */
export interface OptionFieldProps {
  readonly field: Field;
  readonly options: unknown;
  /** By the path of a field, `options` first. */
  readonly problems: Readonly<Record<string, string>>;
  readonly onChange: (options: unknown) => void;
}

/** One option by the control that fits it, or a group of them. */
export function OptionField({ field, options, problems, onChange }: OptionFieldProps) {
  const id = useId();
  const { path, control } = field;
  if (control.kind === 'group') {
    return (
      <fieldset className="field option-group">
        <legend title={path.join('.')}>
          <Name {...nameOf(field)} />
        </legend>
        {control.fields.map((one) => (
          <OptionField
            key={one.path.join('.')}
            field={one}
            options={options}
            problems={problems}
            onChange={onChange}
          />
        ))}
      </fieldset>
    );
  }
  const value = valueOf(options, field);
  const props = {
    id,
    field,
    value,
    problem: problems[['options', ...path].join('.')],
    onChange: (next: unknown) => {
      if (next !== (optionAt(options, path) ?? null)) onChange(withOption(options, path, next));
    },
  };
  return (
    <Fitting {...props} control={value === undefined || fits(control, value) ? control : { kind: 'json' }} />
  );
}

function Fitting(props: OptionProps & { readonly control: Control }) {
  const { control } = props;
  switch (control.kind) {
    case 'choice':
      return <ChoiceOption {...props} control={control} />;
    case 'switch':
      return <SwitchOption {...props} />;
    case 'range':
    case 'number':
      return <NumberOption {...props} control={control} />;
    case 'text':
      return <TextOption {...props} most={control.most} />;
    case 'lines':
      return <LinesOption {...props} />;
    default:
      return <JsonOption {...props} />;
  }
}
