import { useId, useState } from 'react';

import { fieldLook, labelLook, Select, TextArea } from '../../../../parts/looks/inputs.tsx';
import { t } from '../../../../text/text.ts';
import { type Control, fits } from '../../../../work/options/control.ts';
import {
  type OptionField as Field,
  optionAt,
  readOptionValue,
  withOption,
} from '../../../../work/options/fields.ts';
import { toText } from '../../../../work/work.ts';
import { NumberOption, LinesOption, TextOption } from './input-options.tsx';
import {
  describedBy,
  Name,
  OptionFrame,
  type OptionProps,
  nameOption,
  standardText,
  toWords,
} from './option-frame.tsx';

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
      <fieldset
        className={`${fieldLook} min-w-0 m-0 pt-0 pr-0 pb-0 pl-3 border-0 border-l-2 border-l-line gap-4 [&>legend]:mb-2`}
      >
        <legend className={labelLook} title={path.join('.')}>
          <Name {...nameOption(field)} />
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
  const value = readOptionValue(options, field);
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

/** Yes or no; untouched it stands as the model takes it by itself. */
function SwitchOption(props: OptionProps) {
  const { id, field, value, onChange } = props;
  const isOn = (value ?? field.standard) === true;
  return (
    <OptionFrame
      {...props}
      note={standardText(field)}
      beside={
        <button
          type="button"
          id={id}
          className="relative h-5 w-8 flex-none rounded-full bg-line-strong after:absolute after:top-[3px] after:left-[3px] after:size-3.5 after:rounded-full after:bg-surface after:transition-transform after:duration-(--fast) after:content-[''] aria-checked:bg-succeeded-fill aria-checked:after:translate-x-3"
          role="switch"
          aria-checked={isOn}
          onClick={() => onChange(!isOn)}
          {...describedBy(props)}
        />
      }
    />
  );
}

/** One of the vendor's words or numbers, or what the model takes by itself. */
function ChoiceOption(
  props: OptionProps & { readonly control: Extract<Control, { readonly kind: 'choice' }> },
) {
  const { id, field, value, control, onChange } = props;
  return (
    <OptionFrame {...props}>
      <Select
        id={id}
        value={toText(value)}
        onChange={({ target }) =>
          onChange(control.values.find((one) => String(one) === target.value) ?? null)
        }
        {...describedBy(props)}
        empty={standardText(field)}
        options={control.values.map((one) => [String(one), toWords(one)])}
      />
    </OptionFrame>
  );
}

/** Whatever has no control of its own, as JSON; while it is none the form is not sent. */
function JsonOption(props: OptionProps) {
  const { id, value, onChange } = props;
  const [typed, setTyped] = useState<string | null>(null);
  const shown = typed ?? (value === undefined ? '' : JSON.stringify(value, null, 2));
  const fault = isJson(shown) ? undefined : t('options.noJson');
  const problem = fault ?? props.problem;
  return (
    <OptionFrame {...props} problem={problem} note={t('options.json')}>
      <TextArea
        id={id}
        ref={(area) => area?.setCustomValidity(fault ?? '')}
        short
        className="font-mono"
        spellCheck={false}
        value={shown}
        onBlur={() => fault === undefined && setTyped(null)}
        onChange={({ target: { value: text } }) => {
          setTyped(text);
          if (isJson(text)) onChange(text.trim() === '' ? null : JSON.parse(text));
        }}
        {...describedBy({ ...props, problem })}
      />
    </OptionFrame>
  );
}

function isJson(text: string): boolean {
  try {
    if (text.trim() !== '') JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
